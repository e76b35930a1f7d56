import { invalid } from "../check.js";
import type { FleetError } from "../error.js";
import type { RedisClient, RedisCluster, RedisConnection } from "./redis-client.js";
import { PrimaryServer } from "./redis-primary.js";

/** The server, or the cluster, behind a client. */
export interface RedisServer extends Pick<RedisClient, "isReady" | "sendCommand"> {
  /** How often another connection has replaced that of commands. */
  readonly replaced: number;
  /** Returns a client for another connection to it, which is not connected. */
  duplicate(): RedisConnection | Promise<RedisConnection>;
}

/**
 * Returns the server behind a client.
 *
 * @param timeout of a reply, in milliseconds
 * @throws {FleetError} `ERR_ARGUMENT`
 */
export function serverOf(client: unknown, timeout: number): RedisServer {
  if (isCluster(client)) return clusterOf(client);
  const refusal = refusalOf(client);
  if (refusal !== undefined) throw refusal;
  return new PrimaryServer(client as RedisClient, timeout);
}

const hasMethods = (value: unknown, ...names: string[]) =>
  names.every((name) => typeof Object(value)[name] === "function");

function isCluster(client: unknown): client is RedisCluster {
  return hasMethods(client, "sendCommand", "getRandomNode", "nodeClient");
}

/** Clients with the same methods, which take other arguments. */
const OTHERS: readonly (readonly [method: string, what: string])[] = [
  ["defineCommand", "one of ioredis"],
  ["getSentinelNode", "one of createSentinel: connect to an endpoint that leads to the primary"],
];

function refusalOf(client: unknown): FleetError | undefined {
  const other = OTHERS.find(([method]) => hasMethods(client, method));
  if (other === undefined && hasMethods(client, "sendCommand", "duplicate")) return undefined;
  const expected = "a client of the package redis, or a FleetEngine";
  return invalid("client", expected, other?.[1] ?? typeof client);
}

/** All keys of a fleet are in one slot; every node has all messages. */
function clusterOf(cluster: RedisCluster): RedisServer {
  return {
    replaced: 0,
    get isReady() {
      return cluster.isReady ?? true;
    },
    // `EVAL`, the script, the number of keys, and the first key.
    sendCommand: (args, options) => cluster.sendCommand(args[3], false, [...args], options),
    async duplicate() {
      return (await cluster.nodeClient(cluster.getRandomNode())).duplicate();
    },
  };
}
