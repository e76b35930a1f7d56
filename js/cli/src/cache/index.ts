import type { Command } from "commander";

import { addListCommand } from "./list.js";
import { addPruneCommand } from "./prune.js";
import { addStatsCommand } from "./stats.js";
import { addVerifyCommand } from "./verify.js";

/** Adds `hedgerow cache …`. */
export function addCacheCommands(hedgerow: Command): void {
  const cache = hedgerow
    .command("cache")
    .description("Image caches: inspect and manage a cache directory while programs use it");
  addListCommand(cache);
  addStatsCommand(cache);
  addVerifyCommand(cache);
  addPruneCommand(cache);
}
