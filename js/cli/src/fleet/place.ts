import { type Placement, placement } from "@hedgerow/fleet";
import type { Command } from "commander";

import { CliError } from "../error.js";
import { escapeControls, jsonOf } from "../one-line.js";
import { jsonOption, type OutputFlags, parseNumber } from "../options.js";
import { columns, print, table } from "../print.js";
import { type FleetHosts, readHosts } from "./hosts-file.js";
import { redisOption, withResidency } from "./redis.js";

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
export function addPlaceCommand(fleet: Command): void {
  fleet
    .command("place")
    .description("decide on which host a sandbox starts, and say why")
    .argument("<identity>", "the digest of its snapshot; for a delta, that of its base")
    .option("--hosts <file>", "the hosts, as JSON: id, load, capacity, available, images")
    .addOption(redisOption())
    .option("--bound <number>", "maximum load of a host, as a multiple of the mean", parseNumber)
    .option("--load <number>", "load that the sandbox adds", parseNumber)
    .addOption(jsonOption())
    .addHelpText("after", HELP)
    .action(place);
}

async function place(identity: string, options: PlaceOptions): Promise<void> {
  const { hosts: file, redis, json, ...how } = options;
  const { hosts, residents } = await fleetOf(identity, file, redis);
  const decision = placement(identity, hosts, { ...how, residents });
  await print(json ? jsonOf(decision) : tableOf(decision));
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

function tableOf({ host, reason, candidates }: Placement): string {
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
