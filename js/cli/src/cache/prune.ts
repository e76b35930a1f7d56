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
    .description("evict the least recently used images that are not in use")
    .addArgument(directoryArgument())
    .requiredOption(
      "--max-bytes <size>",
      "disk space to shrink the directory to, such as 10GiB",
      parseSize,
    )
    .addOption(jsonOption())
    .action(prune);
}

async function prune(directory: string, { json, maxBytes }: PruneFlags): Promise<void> {
  const done = await withCache(directory, async (cache) => {
    const evicted = await cache.prune(maxBytes);
    return { ...evicted, left: (await cache.stats()).bytes };
  });
  const { images, bytes, left } = done;
  const rows = {
    "evicted images": grouped(images),
    "evicted size": size(bytes),
    "left on disk": size(left),
  };
  await print(json ? jsonOf(done) : table(rows));
}
