import { checkedOptions, checkInteger, checkNoOthers, invalid } from "../check.js";
import { FleetError } from "../error.js";
import { MAX_HOSTS } from "../placement/hosts.js";
import {
  encodeGone,
  encodeMessage,
  type FleetEngine,
  type HostChange,
  MAX_IMAGES,
  MAX_TTL,
  type SlotRequest,
  type StoredHost,
  versionOf,
} from "./engine.js";
import { openConnection, type RedisClient, type RedisCluster } from "./redis-client.js";
import { CHECK, HOSTS, PUBLISH, READ, RELEASE, REMOVE, TAKE } from "./redis-scripts.js";
import { RedisCommands, type RedisServer, serverOf } from "./redis-server.js";

/** Options of `redisEngine`. */
export interface RedisEngineOptions {
  /**
   * The first part of all keys and of the channel: 1 to 64 letters, digits, `.`, `_`, `:` and `-`. Fleets that share a
   * server need different ones. Default: `"hedgerow"`.
   */
  readonly prefix?: string | undefined;
  /** How long a command may take, in milliseconds. From 10 to 60,000. Default: 2,000. */
  readonly timeout?: number | undefined;
}

/** The maximum length of the state of a host, and of the ID of a host, in bytes. */
const MAX_STATE = 1_024;

/**
 * Returns an engine over Redis or Valkey, from version 6. Functions of this package create one from a client, so you
 * need this only for its options.
 *
 * The keys have a hash tag, so that they are in one slot of a cluster.
 *
 * @param client a connected client of a server or of a cluster; handle its event `error`, or Node ends the process.
 *   Subscriptions use a duplicate. After a failover, commands also use one while the client reaches a replica
 * @throws {FleetError} `ERR_ARGUMENT`
 * @example
 * const client = await createClient({ url }).on("error", () => {}).connect();
 * const residency = await Residency.watch({ client: redisEngine(client, { prefix: "blue" }) });
 */
export function redisEngine(
  client: RedisClient | RedisCluster,
  options: RedisEngineOptions = {},
): FleetEngine {
  const { prefix = "hedgerow", timeout = 2_000, ...others } = checkedOptions(options);
  checkNoOthers(others);
  if (typeof prefix !== "string" || !/^[\w.:-]{1,64}$/.test(prefix)) {
    throw invalid("prefix", "1 to 64 letters, digits, `.`, `_`, `:` and `-`", typeof prefix);
  }
  checkInteger("timeout", timeout, 10, 60_000);
  const server = serverOf(client, timeout);
  const commands = new RedisCommands(server, timeout);
  const key = (...parts: string[]) => [`{${prefix}}`, ...parts].join(":");
  const channel = key("changes");
  const keysOf = (host: string) => [key("hosts"), key("state", host), key("images", host)];
  const slotKeys = (identity: string) => [key("slots", identity), key("filled", identity)];

  return {
    async publish(change: HostChange) {
      const { host, epoch, seq, ttl, status, count, isFull, added, removed } = change;
      const version = [host, epoch, `${seq}`, `${ttl}`, JSON.stringify(status), `${count}`];
      const images = [isFull ? "1" : "0", added.join(""), removed.join("")];
      const args = [...version, ...images, channel, encodeMessage(change)];
      return (await commands.run(PUBLISH, keysOf(host), args)) === 1;
    },

    async remove(host: string, epoch: string) {
      const args = [host, epoch, channel, encodeGone(host, epoch)];
      await commands.run(REMOVE, keysOf(host), args);
    },

    async hosts() {
      const found = await commands.run(HOSTS, [key("hosts")], [`${MAX_HOSTS + 1}`, `${MAX_STATE}`]);
      if (!Array.isArray(found)) throw nonsense();
      return found.filter((host) => typeof host === "string");
    },

    async read(host: string) {
      const keys = keysOf(host).slice(1);
      const found = await commands.run(READ, keys, [`${MAX_IMAGES}`, `${MAX_STATE}`]);
      if (!Array.isArray(found)) throw nonsense();
      return found.length === 0 ? undefined : storedHost(host, found);
    },

    subscribe(onMessage, onEnd) {
      const check = () => commands.run(CHECK, [key("hosts")], []);
      return subscribeTo(server, { channel, timeout, check, onMessage, onEnd });
    },

    async takeSlot({ identity, holder, slots, ttl }: SlotRequest) {
      const args = [holder, `${slots}`, `${ttl}`];
      const found = await commands.run(TAKE, slotKeys(identity), args);
      if (found === "held" || found === "filled" || found === "full") return found;
      throw nonsense();
    },

    async releaseSlot(identity: string, holder: string, filledFor = 0) {
      await commands.run(RELEASE, slotKeys(identity), [holder, `${filledFor}`]);
    },
  };
}

const engines = new WeakMap<object, FleetEngine>();

/** Returns the engine for an option `client`. @throws {FleetError} `ERR_ARGUMENT` */
export function engineOf(client: RedisClient | RedisCluster | FleetEngine): FleetEngine {
  if (typeof (client as FleetEngine | undefined)?.takeSlot === "function") {
    return client as FleetEngine;
  }
  const known = engines.get(client);
  if (known !== undefined) return known;
  const engine = redisEngine(client as RedisClient | RedisCluster);
  engines.set(client, engine);
  return engine;
}

function storedHost(host: string, found: readonly unknown[]): StoredHost | "invalid" {
  const [epoch, seq, status, remaining, images] = found;
  // Without a TTL (-1), someone else has stored it.
  const ttl = typeof remaining === "number" && remaining <= MAX_TTL ? remaining : -1;
  const version = versionOf(host, { epoch, seq: Number(seq), ttl, status });
  if (version === undefined || typeof images !== "string") return "invalid";
  return { ...version, images };
}

function nonsense(): FleetError {
  return new FleetError("ERR_ENGINE", "Redis: the reply has an unexpected form");
}

/** The time between two checks that the engine answers on the connection of a subscription, in milliseconds. */
const CHECK_INTERVAL = 1_000;

/** The parameters of a subscription. */
interface Subscription {
  readonly channel: string;
  /** The timeout of a reply, in milliseconds. */
  readonly timeout: number;
  /** Rejects unless the server of the other commands answers, and is up to date. */
  readonly check: () => Promise<unknown>;
  readonly onMessage: (text: string) => void;
  readonly onEnd: (cause: unknown) => void;
}

/**
 * Subscribes to a channel on a separate connection. The subscription ends when the connection fails or does not answer,
 * and when commands go to another server: the server of the subscription may by then be a replica without a primary.
 * Messages until the next subscription are lost.
 *
 * @returns a function that ends it without calling `onEnd`
 * @throws {FleetError} `ERR_ENGINE`
 */
async function subscribeTo(
  server: Pick<RedisServer, "duplicate" | "replaced">,
  { channel, timeout, check, onMessage, onEnd }: Subscription,
): Promise<() => void> {
  const { replaced } = server;
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;
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
