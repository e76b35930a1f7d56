/** The commands of `hedgerow fleet`. */
import { setTimeout as delay } from "node:timers/promises";
import {
  type Host,
  type Placement,
  placement,
  Residency,
  type ResidencyHost,
} from "@hedgerow/fleet";
import { type Command, Option } from "commander";
import prettyBytes from "pretty-bytes";

import { CliError, messageOf } from "../error.js";
import { expecting } from "../files/input.js";
import { Json } from "../files/json.js";
import { jsonOption, type OutputFlags, parseNumber } from "../options.js";
import { columns, escapeControls, grouped, jsonOf, print, table } from "../print.js";

/** Adds `hedgerow fleet …`. */
export function addFleetCommands(hedgerow: Command): void {
  const fleet = hedgerow
    .command("fleet")
    .description("Fleets of hosts: decide where sandboxes start, and see which host has what");
  addPlaceCommand(fleet);
  addStatusCommand(fleet);
}

const HELP = `
A file of hosts:
  [{ "id": "a", "load": 3, "images": ["6f0d…"] }, { "id": "b", "load": 1 }]`;

/** The identities of images that hosts report. */
const DIGEST = /^[0-9a-f]{64}$/;

interface PlaceOptions extends OutputFlags {
  readonly hosts?: string;
  readonly redis?: string;
  readonly bound?: number;
  readonly load?: number;
}

/** Adds `hedgerow fleet place`. */
function addPlaceCommand(fleet: Command): void {
  fleet
    .command("place")
    .description("decide on which host a sandbox starts, and say why")
    .argument("<identity>", "identity of its snapshot; for a delta, that of its base")
    .option("--hosts <file>", "the hosts, as JSON: id, load, capacity, available, images")
    .addOption(redisOption())
    .option("--bound <number>", "maximum load of a host, as a multiple of the mean", parseNumber)
    .option("--load <number>", "load that the sandbox adds", parseNumber)
    .addOption(jsonOption())
    .addHelpText("after", HELP)
    .action(place);
}

async function place(identity: string, options: PlaceOptions): Promise<void> {
  const { hosts: file, redis, json, ...placing } = options;
  const { hosts, residents } = await fleetOf(identity, file, redis);
  const decision = placement(identity, hosts, { ...placing, residents });
  await print(json ? jsonOf(decision) : placementTable(decision));
}

/** Returns the hosts of the file, or else of the fleet. */
async function fleetOf(identity: string, file?: string, redis?: string): Promise<FleetHosts> {
  if (file !== undefined) return readHosts(file, identity);
  if (redis === undefined) throw new CliError("ERR_USAGE", "expected --hosts or --redis");
  if (!DIGEST.test(identity)) {
    const message = "the identity: expected 64 lower-case hexadecimal digits with --redis";
    throw new CliError("ERR_USAGE", message);
  }
  return withResidency(redis, (residency) => {
    return { hosts: residency.hosts(), residents: new Set(residency.hostsOf(identity)) };
  });
}

function placementTable({ host, reason, candidates }: Placement): string {
  const rows = candidates.map((one) => [
    escapeControls(one.host),
    one.distance.toFixed(3),
    `${one.relativeLoad.toFixed(2)} × the mean`,
    one.isResident ? "has the image" : "",
    one.isWithinBound ? "" : "above the bound",
  ]);
  const summary = table({ host: escapeControls(host), reason });
  return `${summary}\n${columns([["candidate", "distance", "load with it"], ...rows])}`;
}

/** The hosts of a fleet, and which of them have an image. */
interface FleetHosts {
  readonly hosts: readonly Host[];
  readonly residents: ReadonlySet<string>;
}

/**
 * Reads a list of hosts: `[{ "id": "a", "load": 3, "capacity": 2, "available": true, "images": ["…"] }]`. All members
 * but `id` are optional.
 *
 * @throws {CliError} `ERR_SOURCE` if the file is not such a list; the values are checked by `placement`
 */
async function readHosts(file: string, identity: string): Promise<FleetHosts> {
  const list = await expecting(file, "a list of hosts", () => Json.read(file));
  if (!list.isList) throw list.error("a list of hosts");
  const hosts: Host[] = [];
  const residents = new Set<string>();
  for (const host of list.items()) {
    const id = host.get("id").string();
    const images = host.get("images").items();
    if (images.some((image) => image.string() === identity)) residents.add(id);
    hosts.push({
      id,
      load: host.get("load").numberIfThere(),
      capacity: host.get("capacity").numberIfThere(),
      available: host.get("available").booleanIfThere(),
    });
  }
  return { hosts, residents };
}

interface StatusOptions extends OutputFlags {
  readonly redis?: string;
}

/** Adds `hedgerow fleet status`. */
function addStatusCommand(fleet: Command): void {
  fleet
    .command("status")
    .description("print the hosts of a fleet: their load, their images, and their hit rates")
    .addOption(redisOption())
    .addOption(jsonOption())
    .action(status);
}

async function status({ redis, json }: StatusOptions): Promise<void> {
  if (redis === undefined) throw new CliError("ERR_USAGE", "expected --redis, or REDIS_URL");
  const hosts = await withResidency(redis, (residency) => residency.hosts());
  hosts.sort((one, other) => (one.id < other.id ? -1 : 1));
  await print(json ? jsonOf({ hosts }) : hostsTable(hosts));
}

function hostsTable(hosts: readonly ResidencyHost[]): string {
  const rows = hosts.map((host) => [
    escapeControls(host.id),
    `${grouped(host.load)} of ${grouped(host.capacity)}`,
    grouped(host.images),
    prettyBytes(host.bytes),
    hitRate(host),
    host.available ? "" : "drains",
  ]);
  return columns([["host", "load of capacity", "images", "on disk", "hits", ""], ...rows]);
}

function hitRate({ hits, misses }: ResidencyHost): string {
  const all = hits + misses;
  return all === 0 ? "none" : `${((100 * hits) / all).toFixed(1)} % of ${grouped(all)}`;
}

const redisOption = () =>
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
async function withResidency<T>(
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
