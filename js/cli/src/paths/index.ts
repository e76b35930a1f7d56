import type { Command } from "commander";

import { addBuildCommand } from "./build.js";
import { addInfoCommand } from "./info.js";
import { addMergeCommand } from "./merge.js";
import { addQueryCommand } from "./query.js";

/** Adds `hedgerow paths …`. */
export function addPathsCommands(hedgerow: Command): void {
  const paths = hedgerow
    .command("paths")
    .description("Path filters: whether a path of a deployment can exist");
  addBuildCommand(paths);
  addMergeCommand(paths);
  addQueryCommand(paths);
  addInfoCommand(paths);
}
