import type { Command } from "commander";

import { addAttachCommand } from "./attach.js";
import { addCollectCommand } from "./collect.js";
import { addCreateCommand } from "./create.js";
import { addExpireCommand } from "./expire.js";
import { addForkCommand } from "./fork.js";
import { addHistoryCommand } from "./history.js";
import { addListCommand } from "./list.js";
import { addRecoverCommand } from "./recover.js";
import { addRemoveCommand } from "./remove.js";
import { addRollbackCommand } from "./rollback.js";
import { addDetachCommand, addSaveCommand } from "./save.js";
import { addStatCommand } from "./stat.js";
import { addVerifyCommand } from "./verify.js";

/** Adds the commands of `hedgerow disk` that work with a store of named disks. */
export function addStoreCommands(disk: Command): void {
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
