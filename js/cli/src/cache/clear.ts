import type { Command } from "commander";

import { jsonOf } from "../one-line.js";
import { jsonOption, type OutputFlags } from "../options.js";
import { grouped, print, size, table } from "../print.js";
import { directoryArgument, withCache } from "./open.js";

/** Adds `hedgerow cache clear`. */
export function addClearCommand(cache: Command): void {
  cache
    .command("clear")
    .description("remove all images; images in use keep their disk space until they are released")
    .addArgument(directoryArgument())
    .addOption(jsonOption())
    .action(clear);
}

async function clear(directory: string, { json }: OutputFlags): Promise<void> {
  const done = await withCache(directory, async (cache) => {
    const images = await cache.clear();
    return { images, left: (await cache.stats()).bytes };
  });
  const rows = { "removed images": grouped(done.images), "left on disk": size(done.left) };
  await print(json ? jsonOf(done) : table(rows));
}
