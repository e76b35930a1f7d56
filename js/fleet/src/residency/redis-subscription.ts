import { RedisCommands } from "./redis-commands.js";
import { openConnection } from "./redis-connection.js";
import type { RedisServer } from "./redis-server.js";

/** The time between two checks that the engine answers on the connection of a subscription, in milliseconds. */
const CHECK_INTERVAL = 1_000;

/** What a subscription needs. */
export interface Subscription {
  readonly channel: string;
  /** The timeout of a reply, in milliseconds. */
  readonly timeout: number;
  /** Rejects unless the server of the other commands answers, and is up to date. */
  readonly check: () => Promise<unknown>;
  readonly onMessage: (text: string) => void;
  readonly onEnd: (cause: unknown) => void;
}

/**
 * Subscribes to a channel on a connection of its own. When that fails, or does not answer, the subscription ends. So it
 * does when commands go to another server: the one at the other end of the subscription may be a replica without a
 * primary by now. Messages until the next subscription are lost.
 *
 * @returns a function that ends it without calling `onEnd`
 * @throws {FleetError} `ERR_ENGINE`
 */
export async function subscribeTo(
  server: Pick<RedisServer, "duplicate" | "replaced">,
  { channel, timeout, check, onMessage, onEnd }: Subscription,
): Promise<() => void> {
  const { replaced } = server;
  let [isEnded, timer]: [boolean, NodeJS.Timeout | undefined] = [false, undefined];
  const stop = () => {
    isEnded = true;
    clearTimeout(timer);
  };
  const own = await openConnection(() => server.duplicate(), {
    timeout,
    begin: (connection) =>
      connection.subscribe(channel, (text) => void (isEnded || onMessage(text))),
    onEnd: (error) => {
      stop();
      onEnd(error);
    },
  });
  const commands = new RedisCommands(own.connection, timeout);
  const checkBoth = async () => {
    await commands.send(["PING"]);
    await check();
    if (server.replaced !== replaced) throw new Error("the server has become a replica");
  };
  const checkLater = () => {
    timer = setTimeout(() => {
      checkBoth().then(() => isEnded || checkLater(), own.fail);
    }, CHECK_INTERVAL);
  };
  checkLater();
  return () => {
    stop();
    own.close();
  };
}
