import { engineError } from "./engine-error.js";
import type { RedisClient } from "./redis-client.js";
import { RedisCommands } from "./redis-commands.js";

/** The time between two checks that the engine answers on the connection of a subscription, in milliseconds. */
const CHECK_INTERVAL = 1_000;

/**
 * Subscribes to a channel on a connection of its own. When that fails, or does not answer, the subscription ends.
 * Messages until the next subscription are lost.
 *
 * @param timeout of a reply, in milliseconds
 * @returns a function that ends it without calling `onEnd`
 * @throws {FleetError} `ERR_ENGINE`
 */
export async function subscribeTo(
  client: RedisClient,
  channel: string,
  timeout: number,
  onMessage: (text: string) => void,
  onEnd: (cause: unknown) => void,
): Promise<() => void> {
  const connection = client.duplicate();
  const commands = new RedisCommands(connection, timeout);
  let [isEnded, timer]: [boolean, NodeJS.Timeout | undefined] = [false, undefined];
  let fail = (_: unknown) => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // It is of interest only while the connection opens.
  failed.catch(() => {});
  const close = () => {
    if (isEnded) return false;
    isEnded = true;
    clearTimeout(timer);
    try {
      connection.destroy();
    } catch {
      // It was never open.
    }
    return true;
  };
  const end = (cause: unknown) => {
    const isOpen = timer !== undefined;
    if (!close()) return;
    fail(cause);
    if (isOpen) onEnd(engineError("Redis", cause));
  };
  // Its own attempts to connect again would lose messages unnoticed.
  for (const event of ["error", "end", "terminated", "reconnecting"]) {
    connection.on(event, (cause) => end(cause ?? new Error("the connection has ended")));
  }
  const check = () => {
    timer = setTimeout(() => {
      commands.send(["PING"]).then(() => isEnded || check(), end);
    }, CHECK_INTERVAL);
  };
  let late: NodeJS.Immediate | undefined;
  // Each reply has this time, and is read first if it has arrived.
  const opening = setTimeout(() => {
    late = setImmediate(() => end(new Error(`no connection within ${timeout} ms`)));
  }, timeout);
  try {
    const open = async () => {
      await connection.connect();
      opening.refresh();
      clearImmediate(late);
      await connection.subscribe(channel, (text) => void (isEnded || onMessage(text)));
    };
    await Promise.race([open(), failed]);
    check();
  } catch (error) {
    close();
    throw engineError("Redis", error);
  } finally {
    clearTimeout(opening);
    clearImmediate(late);
  }
  return () => void close();
}
