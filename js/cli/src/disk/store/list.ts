import type { Command } from "commander";

import { jsonOf, oneLine } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { print } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { type StoreFlags, storeArgument, withStore } from "./open.js";

interface ListFlags extends StoreFlags {
  readonly prefix?: string;
}

/** Adds `hedgerow disk list`. */
export function addListCommand(disk: Command): void {
  const command = disk
    .command("list")
    .description("print the names of disks in order, one per line, as they are read")
    .addArgument(storeArgument())
    .option("--prefix <text>", "beginning of the names (default: all disks)")
    .addOption(jsonOption())
    .action(list);
  addStoreTransferOptions(command);
}

async function list(place: string, flags: ListFlags): Promise<void> {
  const { prefix, json } = flags;
  const names: string[] = [];
  await withStore(place, flags, async (store) => {
    for await (const name of store.list({ prefix })) {
      if (json) names.push(name);
      else await print(`${oneLine(name)}\n`);
    }
  });
  if (json) await print(jsonOf({ names }));
}
