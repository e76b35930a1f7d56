import type { Command } from "commander";

import { interruptible } from "../../interrupt.js";
import { jsonOption, parseWhole } from "../../options.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { printGeneration } from "./generation.js";
import { nameArgument, type StoreFlags, storeArgument, withStore } from "./open.js";

/** Adds `hedgerow disk rollback`. */
export function addRollbackCommand(disk: Command): void {
  const command = disk
    .command("rollback")
    .description("add an earlier generation of a detached disk once more, as the last one")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .argument("<generation>", "number of the generation", parseWhole)
    .addOption(jsonOption())
    .action(rollback);
  addStoreTransferOptions(command);
}

async function rollback(place: string, name: string, number: number, flags: StoreFlags) {
  const generation = await interruptible((signal) =>
    withStore(place, flags, (store) => store.rollback(name, number, { signal }), { signal }),
  );
  await printGeneration(generation, flags);
}
