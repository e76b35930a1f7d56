/** A client of the npm package `redis` or `@redis/client`, from version 5: the part of it that is used. */
export interface RedisClient {
  /** Whether it is connected. */
  readonly isReady?: boolean;
  /** Sends a command, and resolves to its reply. */
  sendCommand(
    args: readonly string[],
    options?: { readonly abortSignal?: AbortSignal; readonly typeMapping?: object },
  ): Promise<unknown>;
  /** Returns a client with the same options, which is not connected. */
  duplicate(): RedisConnection;
}

/** A client of its own for a subscription. */
export interface RedisConnection extends Pick<RedisClient, "sendCommand"> {
  /** Connects, and rejects if that fails. */
  connect(): Promise<unknown>;
  /** Calls a listener at each event of a name. */
  // biome-ignore lint/suspicious/noExplicitAny: the arguments differ between events
  on(event: string, listener: (...args: any[]) => void): unknown;
  /** Calls a listener with each message of a channel. */
  subscribe(channel: string, listener: (message: string) => unknown): Promise<unknown>;
  /** Closes the connection at once. */
  destroy(): void;
}
