/** The commands that make room in a store: old generations expire, and unneeded snapshots are collected. */
import { setFlagsFromString } from "node:v8";

import type { Duration } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { CliError } from "../error.js";
import { interruptible } from "../interrupt.js";
import { jsonOption, parseWhole } from "../options.js";
import { columns, grouped, jsonOf, oneLine, print, size, table } from "../print.js";
import { addStoreTransferOptions } from "../snapshot/options.js";
import {
  dryRunOption,
  imagesOption,
  openStore,
  type StoreFlags,
  storeArgument,
} from "./options.js";

interface ExpireFlags extends StoreFlags {
  readonly name?: string;
  readonly keepLast?: number;
  readonly olderThan?: Duration;
  readonly dryRun: boolean;
}

/** Adds `hedgerow disk expire`. */
export function addExpireCommand(disk: Command): void {
  const command = disk
    .command("expire")
    .description(
      "remove old generations; keeps the last one of each disk, the beginnings of forks, and what is attached",
    )
    .addArgument(storeArgument())
    .option("--name <name>", "disk whose generations expire (default: all disks)")
    .option(
      "--keep-last <number>",
      "number of generations to keep of each disk (default: 1)",
      parseWhole,
    )
    .option(
      "--older-than <duration>",
      "minimum age of generations to remove, such as 30d (default: any)",
    )
    .addOption(dryRunOption("removed"))
    .addOption(jsonOption())
    .action(expire);
  addStoreTransferOptions(command);
}

async function expire(place: string, flags: ExpireFlags): Promise<void> {
  const { name, keepLast, olderThan, dryRun } = flags;
  if (keepLast === undefined && olderThan === undefined) {
    const message = "--keep-last and --older-than: expected at least one of them, found neither";
    throw new CliError("ERR_USAGE", message);
  }
  const expired = await interruptible(async (signal) => {
    await using store = await openStore(place, flags, { signal });
    return await store.expire({ name, keepLast, olderThan, dryRun, signal });
  });
  const rows = expired.map((one) => [oneLine(one.name), String(one.generation)]);
  await print(flags.json ? jsonOf({ expired }) : columns([["disk", "generation"], ...rows]));
}

interface CollectFlags extends StoreFlags {
  readonly grace?: Duration;
  readonly dryRun: boolean;
}

/** Adds `hedgerow disk collect`. */
export function addCollectCommand(disk: Command): void {
  const command = disk
    .command("collect")
    .description(
      "delete snapshots that no generation has needed for the grace period, and leftovers of killed processes",
    )
    .addArgument(storeArgument())
    .option(
      "--grace <duration>",
      "how long a snapshot must have been unneeded; longer than any save takes (default: 24h)",
    )
    .addOption(dryRunOption("deleted"))
    .addOption(imagesOption())
    .addOption(jsonOption())
    .action(collect);
  addStoreTransferOptions(command);
}

async function collect(place: string, flags: CollectFlags): Promise<void> {
  const { grace, dryRun } = flags;
  // Lists of objects become garbage at once. By default, V8 keeps 200 MB of it.
  setFlagsFromString("--optimize-for-size");
  const collected = await interruptible(async (signal) => {
    await using store = await openStore(place, flags, { signal });
    return await store.collect({ grace, dryRun, signal });
  });
  const { snapshots, deleted, bytes, marked, leftovers } = collected;
  const rows = {
    snapshots: grouped(snapshots),
    [dryRun ? "would delete" : "deleted"]: `${grouped(deleted.length)}, ${size(bytes)}`,
    "in grace period": grouped(marked),
    leftovers: grouped(leftovers),
  };
  const listed = deleted.map((one) => [one.digest, size(one.bytes)]);
  await print(flags.json ? jsonOf(collected) : table(rows) + columns(listed));
}
