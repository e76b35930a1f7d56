import type { Command } from "commander";

import { escapeControls, jsonOf } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { grouped, print, size, table, utc } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { nameArgument, type StoreFlags, storeArgument, withStore } from "./open.js";

/** Adds `hedgerow disk stat`. */
export function addStatCommand(disk: Command): void {
  const command = disk
    .command("stat")
    .description("print the sizes of a disk, its last generation, and the owner of its lease")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(jsonOption())
    .action(stat);
  addStoreTransferOptions(command);
}

async function stat(place: string, name: string, flags: StoreFlags): Promise<void> {
  const status = await withStore(place, flags, (store) => store.stat(name));
  const { last, attached, ownBytes, sharedBytes, generations } = status;
  const { label } = last;
  const rows = {
    name,
    size: size(status.size),
    generations: grouped(generations),
    "last generation": String(last.number),
    identity: last.digest,
    saved: utc(last.time),
    ...(label === undefined ? {} : { label: escapeControls(label) }),
    "own snapshots": size(ownBytes),
    "shared snapshots": size(sharedBytes),
    attached: attached === undefined ? "no" : `by ${escapeControls(attached.owner)}`,
  };
  await print(flags.json ? jsonOf(status) : table(rows));
}
