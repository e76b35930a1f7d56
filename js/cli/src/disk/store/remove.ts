import type { Command } from "commander";

import { jsonOf } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { print, table } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { nameArgument, type StoreFlags, storeArgument, withStore } from "./open.js";

/** Adds `hedgerow disk remove`. */
export function addRemoveCommand(disk: Command): void {
  const command = disk
    .command("remove")
    .description("remove a detached disk with all its generations; its forks stay")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(jsonOption())
    .action(remove);
  addStoreTransferOptions(command);
}

async function remove(place: string, name: string, flags: StoreFlags): Promise<void> {
  await withStore(place, flags, (store) => store.remove(name));
  await print(flags.json ? jsonOf({ removed: name }) : table({ removed: name }));
}
