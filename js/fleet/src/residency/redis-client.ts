/** Clients of Redis: the methods that are used, separate connections, and their errors. */
import { FleetError } from "../error.js";
import { engineError } from "./engine-failures.js";

/** Options of a command. */
export interface RedisCommandOptions {
  /** Aborts it, unless it was sent. */
  readonly abortSignal?: AbortSignal;
  /** Converts the types of a reply. Default: the client's own choice */
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

/** A client for a separate connection. */
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

/** An open connection. */
export interface OwnConnection {
  readonly connection: RedisConnection;
  /** Closes it without calling `onEnd`. */
  close(): void;
  /** Closes it because of a failure. */
  fail(cause: unknown): void;
}

/** How a connection begins and ends. */
interface OwnConnectionOptions {
  /** The maximum time to connect, and then to begin, in milliseconds. */
  readonly timeout: number;
  /** Is called with the connection before it counts as open. */
  readonly begin?: (connection: RedisConnection) => Promise<unknown>;
  /** Is called once if it fails after it was open. */
  readonly onEnd: (error: FleetError) => void;
}

/**
 * Opens a connection that ends with its first failure: if the client reconnected by itself, messages could be lost
 * unnoticed, and its attempts might never end.
 *
 * @param duplicate returns a client that is not connected
 * @throws {FleetError} `ERR_ENGINE`
 */
export async function openConnection(
  duplicate: () => RedisConnection | Promise<RedisConnection>,
  { timeout, begin, onEnd }: OwnConnectionOptions,
): Promise<OwnConnection> {
  let connection: RedisConnection | undefined;
  let isOpen = false;
  let isEnded = false;
  let rejectOpening = (_: unknown) => {};
  const failed = new Promise<never>((_, reject) => {
    rejectOpening = reject;
  });
  // It is of interest only while the connection opens.
  failed.catch(() => {});
  const close = () => {
    isEnded = true;
    try {
      connection?.destroy();
    } catch {
      // It was never open.
    }
  };
  const fail = (cause: unknown) => {
    if (isEnded) return;
    close();
    rejectOpening(cause);
    if (isOpen) onEnd(redisError(cause));
  };
  let late: NodeJS.Immediate | undefined;
  // Each reply has this time, and is read first if it has arrived.
  const opening = setTimeout(() => {
    late = setImmediate(() => fail(new Error(`no connection within ${timeout} ms`)));
  }, timeout);
  const open = async () => {
    const made = await duplicate();
    if (isEnded) throw new Error("closed");
    connection = made;
    for (const event of ["error", "end", "terminated", "reconnecting"]) {
      made.on(event, (cause) => fail(cause ?? new Error("the connection has ended")));
    }
    await made.connect();
    opening.refresh();
    clearImmediate(late);
    await begin?.(made);
    return made;
  };
  try {
    const opened = await Promise.race([open(), failed]);
    isOpen = true;
    return { connection: opened, close, fail };
  } catch (error) {
    close();
    throw redisError(error);
  } finally {
    clearTimeout(opening);
    clearImmediate(late);
  }
}

/** Advice for errors of Redis that give none. */
const ADVICE = [
  [
    /\b(?:MOVED|ASK|CROSSSLOT)\b/,
    "the server is one node of a cluster: pass a client of createCluster",
  ],
  [
    /\bREADONLY\b/,
    "a new connection reaches a replica, too: the fleet does not see changes of this host",
  ],
  [
    /\bMASTERDOWN\b/,
    "a new connection reaches a replica without a primary, too: what it holds is out of date",
  ],
  [
    /\b(?:NOAUTH|NOPERM|WRONGPASS)\b/,
    "connect as a user who may use the keys, the channel and EVAL",
  ],
] as const;

/** Returns the error for a failure of Redis, with what to do about it. */
export function redisError(cause: unknown): FleetError {
  if (cause instanceof FleetError) return cause;
  const { code, message } = engineError("Redis", cause);
  const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1];
  return new FleetError(code, advice === undefined ? message : `${message}: ${advice}`);
}
