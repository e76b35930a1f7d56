import type { Command } from "commander";

import { addCreateCommand } from "./create.js";
import { addFlattenCommand } from "./flatten.js";
import { addInfoCommand } from "./info.js";
import { addRestoreCommand } from "./restore.js";
import { addVerifyCommand } from "./verify.js";

/** Adds `hedgerow snapshot …`. */
export function addSnapshotCommands(hedgerow: Command): void {
  const snapshot = hedgerow
    .command("snapshot")
    .description("Snapshots: disk images as compressed files that restore in parallel");
  addCreateCommand(snapshot);
  addRestoreCommand(snapshot);
  addFlattenCommand(snapshot);
  addInfoCommand(snapshot);
  addVerifyCommand(snapshot);
}
