import type { ResidencyHost } from "@hedgerow/fleet";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { CliError } from "../error.js";
import { escapeControls, jsonOf } from "../one-line.js";
import { jsonOption, type OutputFlags } from "../options.js";
import { columns, grouped, print } from "../print.js";
import { redisOption, withResidency } from "./redis.js";

interface StatusOptions extends OutputFlags {
  readonly redis?: string;
}

/** Adds `hedgerow fleet status`. */
export function addStatusCommand(fleet: Command): void {
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
  await print(json ? jsonOf({ hosts }) : tableOf(hosts));
}

function tableOf(hosts: readonly ResidencyHost[]): string {
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
