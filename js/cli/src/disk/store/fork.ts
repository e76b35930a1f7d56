import { type Command, Option } from "commander";

import { interruptible } from "../../interrupt.js";
import { jsonOf } from "../../one-line.js";
import { jsonOption, parseWhole } from "../../options.js";
import { print } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { nameArgument, type StoreFlags, storeArgument, withStore } from "./open.js";

/** Flags of commands that take a generation. */
export interface GenerationFlags extends StoreFlags {
  readonly generation?: number;
}

export const generationOption = () =>
  new Option("--generation <number>", "number of a generation (default: the last one)").argParser(
    parseWhole,
  );

/** Adds `hedgerow disk fork`. */
export function addForkCommand(disk: Command): void {
  const command = disk
    .command("fork")
    .description("create disks that begin with a generation of another one; copies no data")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .argument("<fork...>", "names of the new disks")
    .addOption(generationOption())
    .addOption(jsonOption())
    .action(fork);
  addStoreTransferOptions(command);
}

async function fork(place: string, name: string, forks: string[], flags: GenerationFlags) {
  const { generation, json } = flags;
  await interruptible((signal) =>
    withStore(place, flags, (store) => store.fork(name, forks, { generation, signal }), { signal }),
  );
  await print(json ? jsonOf({ forks }) : forks.map((each) => `${each}\n`).join(""));
}
