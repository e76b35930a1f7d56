import type { OpenOptions } from "@hedgerow/snapshot";
import { type Command, Option } from "commander";

import { jsonOption, parseSize } from "../options.js";
import { addCacheOptions, type CacheFlags } from "../snapshot/cache-options.js";
import {
  digestOption,
  type ReadFlags,
  type WorkFlags,
  workersOption,
} from "../snapshot/options.js";
import {
  addTransferOptions,
  type TransferFlags,
  transferOf,
} from "../snapshot/transfer-options.js";

/** Flags of commands that open a disk. */
export interface DiskFlags extends ReadFlags, WorkFlags, CacheFlags, TransferFlags {
  readonly fill: "all" | "none";
  readonly fillRate?: number;
  readonly onStall: "wait" | "error";
}

/** Adds the options of all commands that open a disk, after those of the command itself. */
export function addDiskOptions(command: Command): void {
  command
    .addOption(
      new Option("--fill <what>", "what to fetch in the background")
        .choices(["all", "none"])
        .default("all"),
    )
    .option(
      "--fill-rate <size>",
      "maximum rate of the fill, in bytes per second, such as 50MiB (default: unlimited)",
      parseSize,
    )
    .addOption(
      new Option("--on-stall <action>", "what readers do while the server fails")
        .choices(["wait", "error"])
        .default("wait"),
    )
    .addOption(digestOption())
    .addOption(workersOption())
    .addOption(jsonOption());
  addCacheOptions(command, "image cache that may have the image of a base of the snapshot");
  addTransferOptions(command);
}

/** Converts the flags to options of `openSnapshot`, without the cache. */
export function openOptionsOf(flags: DiskFlags): OpenOptions {
  const { digest, workers, fill, fillRate: fillBytesPerSecond, onStall } = flags;
  return { digest, workers, fill, fillBytesPerSecond, onStall, ...transferOf(flags) };
}
