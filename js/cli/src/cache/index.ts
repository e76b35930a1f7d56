import type { Command } from "commander";

import { addClearCommand } from "./clear.js";
import { addListCommand } from "./list.js";
import { addPruneCommand } from "./prune.js";
import { addStatsCommand } from "./stats.js";
import { addVerifyCommand } from "./verify.js";

/** Adds `hedgerow cache …`. */
export function addCacheCommands(hedgerow: Command): void {
  const cache = hedgerow
    .command("cache")
    .description("Caches of images: what is in the directory of one, while others use it");
  addListCommand(cache);
  addStatsCommand(cache);
  addVerifyCommand(cache);
  addPruneCommand(cache);
  addClearCommand(cache);
}
