import type { FleetError } from "../error.js";
import type { RedisConnection } from "./redis-client.js";
import { redisError } from "./redis-error.js";

/** An open connection. */
export interface OwnConnection {
  readonly connection: RedisConnection;
  /** Closes it without calling `onEnd`. */
  close(): void;
  /** Closes it because of a failure. */
  fail(cause: unknown): void;
}

/** How a connection begins and ends. */
export interface OwnConnectionOptions {
  /** The maximum time to connect, and then to begin, in milliseconds. */
  readonly timeout: number;
  /** Is called with the connection before it counts as open. */
  readonly begin?: (connection: RedisConnection) => Promise<unknown>;
  /** Is called once if it fails after it was open. */
  readonly onEnd: (error: FleetError) => void;
}

/**
 * Opens a connection that ends with its first failure: attempts of the client to connect again would lose messages
 * unnoticed, and may go on for ever.
 *
 * @param duplicate returns a client that is not connected
 * @throws {FleetError} `ERR_ENGINE`
 */
export async function openConnection(
  duplicate: () => RedisConnection | Promise<RedisConnection>,
  { timeout, begin, onEnd }: OwnConnectionOptions,
): Promise<OwnConnection> {
  let connection: RedisConnection | undefined;
  let [isOpen, isEnded] = [false, false];
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
