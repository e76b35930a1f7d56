import type { Command } from "commander";

import { addMountCommand } from "./mount.js";
import { addOpenCommand } from "./open.js";

/** Adds `hedgerow disk …`. */
export function addDiskCommands(hedgerow: Command): void {
  const disk = hedgerow
    .command("disk")
    .description("Disks: use a snapshot at once, while its data is being fetched");
  addOpenCommand(disk);
  addMountCommand(disk);
}
