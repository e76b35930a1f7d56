import { setTimeout as delay } from "node:timers/promises";

import { Residency } from "@hedgerow/fleet";
import { Option } from "commander";

import { CliError, messageOf } from "../error.js";

export const redisOption = () =>
  new Option("--redis <url>", "Redis or Valkey, such as redis://localhost:6379").env("REDIS_URL");

/** How long a connection may take, and a first reply, in milliseconds. */
const TIMEOUT = 5_000;

const SOCKET = { connectTimeout: TIMEOUT, reconnectStrategy: false } as const;

/** Advice for errors of connections that give none. */
const ADVICE = [
  [/^NOAUTH /, "expected a user and a password in --redis: redis://user:password@host:port"],
  [/^Socket closed/, "the server closed the connection; if it uses TLS, pass rediss://host:port"],
] as const;

type Client = Awaited<ReturnType<typeof clientOf>>;

/**
 * Calls `use` with a picture of the fleet, and stops watching afterwards.
 *
 * @throws {CliError} `ERR_ENGINE` if the server cannot be reached, or does not answer; `ERR_USAGE` for an invalid URL
 */
export async function withResidency<T>(
  url: string,
  use: (residency: Residency) => T | Promise<T>,
): Promise<T> {
  const client = await clientOf(url);
  const cluster = await clusterOf(url, client);
  try {
    const isNode = await withinTimeout(connect(client, cluster));
    let reason = "Redis: does not answer";
    const residency = await Residency.watch({
      client: isNode ? cluster : client,
      onError: (error) => {
        reason = error.message;
      },
    });
    try {
      return residency.isCurrent ? await use(residency) : fail(reason);
    } finally {
      await residency.close();
    }
  } finally {
    if (client.isOpen) client.destroy();
    if (cluster.isOpen) cluster.destroy();
  }
}

async function clientOf(url: string) {
  // Loading it takes longer than starting Node.
  const { createClient } = await import("@redis/client");
  try {
    return createClient({ url, socket: { ...SOCKET } }).on("error", () => {});
  } catch {
    // The URL may have a password.
    throw new CliError("ERR_USAGE", "--redis: expected redis://host:port or rediss://host:port");
  }
}

/** Connects to a server, and to its cluster if it is a node of one. Returns whether it is. */
async function connect(client: Client, cluster: Awaited<ReturnType<typeof clusterOf>>) {
  await client.connect();
  // The user may be forbidden to ask.
  const info = await client.info("cluster").catch(() => "");
  const isNode = String(info).includes("cluster_enabled:1");
  if (isNode) await cluster.connect();
  return isNode;
}

/** Returns a client of the cluster of a node, with the same user and protocol. */
async function clusterOf(url: string, { options }: Client) {
  const { createCluster } = await import("@redis/client");
  const { username, password, socket } = options;
  const tls = Object(socket).tls === true ? { tls: true } : {};
  const user = username === undefined ? {} : { username };
  const secret = password === undefined ? {} : { password };
  return createCluster({
    rootNodes: [{ url, socket: { ...SOCKET } }],
    defaults: { ...user, ...secret, socket: { ...SOCKET, ...tls } as typeof SOCKET },
  }).on("error", () => {});
}

/** @throws {CliError} `ERR_ENGINE` if the connection fails, or the server does not answer */
async function withinTimeout<T>(connecting: Promise<T>): Promise<T> {
  const deadline = delay(TIMEOUT, undefined, { ref: false }).then(() => {
    throw new Error("does not answer");
  });
  return Promise.race([connecting, deadline]).catch((error) => fail(`Redis: ${reasonOf(error)}`));
}

/** Returns the reason why a connection failed: an error for several addresses has no message. */
function reasonOf(error: unknown): string {
  const { errors = [error] } = Object(error) as { readonly errors?: readonly unknown[] };
  const reason = errors.map(messageOf).join(", ");
  return ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? reason;
}

function fail(reason: string): never {
  throw new CliError("ERR_ENGINE", reason);
}
