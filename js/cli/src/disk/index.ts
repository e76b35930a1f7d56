import type { Command } from "commander";

import { addMountCommand } from "./mount.js";
import { addOpenCommand } from "./open.js";
import { addStoreCommands } from "./store/index.js";

/** Adds `hedgerow disk …`. */
export function addDiskCommands(hedgerow: Command): void {
  const disk = hedgerow
    .command("disk")
    .description(
      "Disks: use a snapshot while its data is being fetched; keep named disks in a store",
    );
  addOpenCommand(disk);
  addMountCommand(disk);
  addStoreCommands(disk);
}
