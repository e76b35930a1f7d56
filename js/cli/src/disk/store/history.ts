import type { Generation } from "@hedgerow/snapshot";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { escapeControls, jsonOf } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { columns, print, shortIdentity, utc } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { forkOf } from "./generation.js";
import { nameArgument, type StoreFlags, storeArgument, withStore } from "./open.js";

/** Adds `hedgerow disk history`. */
export function addHistoryCommand(disk: Command): void {
  const command = disk
    .command("history")
    .description("list the generations of a disk, the last one last")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(jsonOption())
    .action(history);
  addStoreTransferOptions(command);
}

async function history(place: string, name: string, flags: StoreFlags): Promise<void> {
  const generations: Generation[] = [];
  await withStore(place, flags, async (store) => {
    for await (const generation of store.history(name)) generations.push(generation);
  });
  const rows = generations.map(rowOf);
  await print(flags.json ? jsonOf({ name, generations }) : columns([HEAD, ...rows]));
}

const HEAD = ["generation", "saved", "size", "with bases", "identity", "fork of", "label"];

function rowOf(generation: Generation): string[] {
  const { number, time, bytes, totalBytes, digest, label = "" } = generation;
  const sizes = [prettyBytes(bytes), prettyBytes(totalBytes)];
  const texts = [shortIdentity(digest), forkOf(generation), escapeControls(label)];
  return [String(number), utc(time), ...sizes, ...texts];
}
