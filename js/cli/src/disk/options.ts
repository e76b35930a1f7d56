import type { OpenOptions } from "@hedgerow/snapshot";
import { type Command, Option } from "commander";

import { jsonOption, parseSize } from "../options.js";
import { addCacheOptions, type CacheFlags } from "../snapshot/cache-options.js";
import {
  digestOption,
  parsePlace,
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
  readonly fill: "all" | "delta" | "none";
  readonly fillRate?: number;
  readonly onStall: "wait" | "error";
  /** The place of the trace, `false` for none, or `true` for the default. */
  readonly trace: string | boolean;
}

/** Adds the options of all commands that open a disk, after those of the command itself. */
export function addDiskOptions(command: Command): void {
  command
    .addOption(
      new Option("--fill <what>", "what to fetch in the background")
        .choices(["all", "delta", "none"])
        .default("all"),
    )
    .option(
      "--fill-rate <size>",
      "maximum rate of the fill, in bytes per second, such as 50MiB (default: unlimited)",
      parseSize,
    )
    .option(
      "--trace <place>",
      "what an earlier disk read first, to be fetched first (default: beside the snapshot, with the suffix .trace)",
      parsePlace,
    )
    .option("--no-trace", "do not look for a trace")
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
export function openOptionsOf(flags: DiskFlags): Omit<OpenOptions, "image"> {
  const { digest, workers, fill, fillRate: fillBytesPerSecond, onStall } = flags;
  const trace = tracePlaceOf(flags);
  return { digest, workers, fill, fillBytesPerSecond, onStall, trace, ...transferOf(flags) };
}

/** Returns the place of the trace; `false` for none, and undefined for the default. */
export function tracePlaceOf({ trace }: DiskFlags): string | false | undefined {
  return trace === true ? undefined : trace;
}
