/** Options of a command. */
export interface RedisCommandOptions {
  /** Aborts it, unless it was sent. */
  readonly abortSignal?: AbortSignal;
  /** Returns the types of a reply as others. Default: the client's own choice */
  readonly typeMapping?: object;
}

/** A client of the npm package `redis` or `@redis/client`, from version 5: the part of it that is used. */
export interface RedisClient {
  /** Whether it is connected. */
  readonly isReady?: boolean;
  /** Sends a command, and resolves to its reply. */
  sendCommand(args: readonly string[], options?: RedisCommandOptions): Promise<unknown>;
  /** Returns a client with the same options, which is not connected. */
  duplicate(): RedisConnection;
}

/** A client of a cluster, as `createCluster` of the same packages makes it: the part of it that is used. */
export interface RedisCluster {
  /** Whether it is connected. */
  readonly isReady?: boolean;
  /** Sends a command to the node that has its first key, and resolves to its reply. */
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: string[],
    options?: RedisCommandOptions,
  ): Promise<unknown>;
  /** Returns a node. */
  // biome-ignore lint/suspicious/noExplicitAny: only the client knows what a node is
  getRandomNode(): any;
  /** Returns the client of a node. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  nodeClient(node: any): Promise<Pick<RedisClient, "duplicate">>;
}

/** A client for a connection of its own. */
export interface RedisConnection extends Pick<RedisClient, "sendCommand"> {
  /** Connects, and rejects if that fails. */
  connect(): Promise<unknown>;
  /** Calls a listener at each event of a name. */
  // biome-ignore lint/suspicious/noExplicitAny: the arguments differ between events
  on(event: string, listener: (...args: any[]) => void): unknown;
  /** Calls a listener with each message of a channel. */
  subscribe(channel: string, listener: (message: string) => unknown): Promise<unknown>;
  /** Lets the process end while the connection is open. */
  unref(): void;
  /** Closes the connection at once. */
  destroy(): void;
}
