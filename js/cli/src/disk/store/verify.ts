import type { Command } from "commander";

import { jsonOption } from "../../options.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { doWork } from "../../snapshot/work.js";
import { type GenerationFlags, generationOption } from "./fork.js";
import { printGeneration } from "./generation.js";
import { nameArgument, storeArgument, withStore } from "./open.js";

/** Adds `hedgerow disk verify`. */
export function addVerifyCommand(disk: Command): void {
  const command = disk
    .command("verify")
    .description("check every byte of a generation, and the sizes of all snapshots of the disk")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(generationOption())
    .addOption(jsonOption())
    .action(verify);
  addStoreTransferOptions(command);
}

async function verify(place: string, name: string, flags: GenerationFlags): Promise<void> {
  const { generation } = flags;
  const verified = await doWork("verify", ({ signal }) =>
    withStore(place, flags, (store) => store.verify(name, { generation, signal }), { signal }),
  );
  await printGeneration(verified, flags);
}
