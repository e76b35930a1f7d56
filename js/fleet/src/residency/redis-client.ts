/** A client of the npm package `redis` or `@redis/client`, from version 5: the part of it that is used. */
export interface RedisClient {
  /** Whether it is connected. */
  readonly isReady?: boolean;
  sendCommand(
    args: readonly string[],
    options?: { readonly abortSignal?: AbortSignal; readonly typeMapping?: object },
  ): Promise<unknown>;
  /** Returns a client with the same options, which is not connected. */
  duplicate(): RedisConnection;
}

/** A client of its own for a subscription. */
export interface RedisConnection extends Pick<RedisClient, "sendCommand"> {
  connect(): Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: the arguments differ between events
  on(event: string, listener: (...args: any[]) => void): unknown;
  subscribe(channel: string, listener: (message: string) => unknown): Promise<unknown>;
  /** Closes the connection at once. */
  destroy(): void;
}
