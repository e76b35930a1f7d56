import type { Command } from "commander";

import { jsonOf } from "../one-line.js";
import { jsonOption, type OutputFlags } from "../options.js";
import { grouped, print, size, table } from "../print.js";
import { directoryArgument, withCache } from "./open.js";

/** Adds `hedgerow cache stats`. */
export function addStatsCommand(cache: Command): void {
  cache
    .command("stats")
    .description("print the size of the cache and the counters of all programs that use it")
    .addArgument(directoryArgument())
    .addOption(jsonOption())
    .action(stats);
}

async function stats(directory: string, { json }: OutputFlags): Promise<void> {
  const { entries, bytes, totals } = await withCache(directory, (cache) => cache.stats());
  if (json) {
    await print(jsonOf({ entries, bytes, ...totals }));
    return;
  }
  const { hits, misses, fills, failures, evictions, damaged } = totals;
  const all = hits + misses;
  const rows = {
    images: grouped(entries),
    "on disk": size(bytes),
    hits: all === 0 ? "0" : `${grouped(hits)} (${((100 * hits) / all).toFixed(1)} %)`,
    misses: grouped(misses),
    fills: `${grouped(fills)} (${grouped(failures)} failed)`,
    evictions: grouped(evictions),
    damaged: grouped(damaged),
  };
  await print(table(rows));
}
