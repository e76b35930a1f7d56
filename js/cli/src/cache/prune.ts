import type { Command } from "commander";

import { jsonOf } from "../one-line.js";
import { jsonOption, type OutputFlags, parseSize } from "../options.js";
import { grouped, print, size, table } from "../print.js";
import { directoryArgument, withCache } from "./open.js";

interface PruneFlags extends OutputFlags {
  readonly maxBytes: number;
}

/** Adds `hedgerow cache prune`. */
export function addPruneCommand(cache: Command): void {
  cache
    .command("prune")
    .description("have images go that were not used for the longest time, and that nobody uses")
    .addArgument(directoryArgument())
    .requiredOption(
      "--max-bytes <size>",
      "what the directory may take on the disk then, such as 10GiB",
      parseSize,
    )
    .addOption(jsonOption())
    .action(prune);
}

async function prune(directory: string, { json, maxBytes }: PruneFlags): Promise<void> {
  const done = await withCache(directory, async (cache) => {
    const went = await cache.prune(maxBytes);
    return { ...went, left: (await cache.stats()).bytes };
  });
  const { images, bytes, left } = done;
  const rows = {
    "images that went": grouped(images),
    "that was": size(bytes),
    "left on disk": size(left),
  };
  await print(json ? jsonOf(done) : table(rows));
}
