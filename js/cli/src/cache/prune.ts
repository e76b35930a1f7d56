import type { Command } from "commander";

import { CliError } from "../error.js";
import { jsonOf } from "../one-line.js";
import { jsonOption, type OutputFlags, parseSize } from "../options.js";
import { grouped, print, size, table } from "../print.js";
import { directoryArgument, withCache } from "./open.js";

interface PruneFlags extends OutputFlags {
  readonly maxBytes?: number;
  readonly all: boolean;
}

/** Adds `hedgerow cache prune`. */
export function addPruneCommand(cache: Command): void {
  cache
    .command("prune")
    .description("evict the least recently used images")
    .addArgument(directoryArgument())
    .option(
      "--max-bytes <size>",
      "disk space to shrink the directory to, such as 10GiB; images in use stay",
      parseSize,
    )
    .option("--all", "remove all images; those in use keep their space until released", false)
    .addOption(jsonOption())
    .action(prune);
}

async function prune(directory: string, { json, maxBytes, all }: PruneFlags): Promise<void> {
  if ((maxBytes === undefined) !== all) {
    const found = all ? "both" : "neither";
    throw new CliError("ERR_USAGE", `--max-bytes and --all: expected one of them, found ${found}`);
  }
  const done = await withCache(directory, async (cache) => {
    const before = (await cache.stats()).bytes;
    const images =
      maxBytes === undefined ? await cache.clear() : (await cache.prune(maxBytes)).images;
    const left = (await cache.stats()).bytes;
    return { images, bytes: Math.max(before - left, 0), left };
  });
  const { images, bytes, left } = done;
  const rows = {
    "evicted images": grouped(images),
    "evicted size": size(bytes),
    "left on disk": size(left),
  };
  await print(json ? jsonOf(done) : table(rows));
}
