/** The commands of `hedgerow fleet`. */
import { type Host, type Placement, placement, type ResidencyHost } from "@hedgerow/fleet";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { CliError } from "../error.js";
import { expecting } from "../files/input.js";
import { Json } from "../files/json.js";
import { jsonOption, type OutputFlags, parseNumber } from "../options.js";
import { columns, escapeControls, grouped, jsonOf, print, table } from "../print.js";
import { redisOption, withResidency } from "./redis.js";

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
