import type { Command } from "commander";

import { addAttachCommand } from "./attach.js";
import { addCollectCommand, addExpireCommand } from "./collect.js";
import {
  addCreateCommand,
  addForkCommand,
  addRemoveCommand,
  addRollbackCommand,
} from "./create.js";
import { addHistoryCommand, addListCommand, addStatCommand, addVerifyCommand } from "./inspect.js";
import { addMountCommand } from "./mount.js";
import { addOpenCommand } from "./open.js";
import { addRecoverCommand } from "./recover.js";
import { addDetachCommand, addSaveCommand } from "./save.js";

/** Adds `hedgerow disk …`. */
export function addDiskCommands(hedgerow: Command): void {
  const disk = hedgerow
    .command("disk")
    .description(
      "Disks: use a snapshot while its data is being fetched; keep named disks in a store",
    );
  addOpenCommand(disk);
  addMountCommand(disk);
  addCreateCommand(disk);
  addAttachCommand(disk);
  addSaveCommand(disk);
  addDetachCommand(disk);
  addListCommand(disk);
  addStatCommand(disk);
  addHistoryCommand(disk);
  addForkCommand(disk);
  addRollbackCommand(disk);
  addVerifyCommand(disk);
  addExpireCommand(disk);
  addCollectCommand(disk);
  addRemoveCommand(disk);
  addRecoverCommand(disk);
}
