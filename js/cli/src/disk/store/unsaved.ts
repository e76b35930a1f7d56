import type { UnsavedImage } from "@hedgerow/snapshot";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { jsonOf, oneLine } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { columns, print } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { imagesOption, type StoreFlags, storeArgument, withStore } from "./open.js";

/** Adds `hedgerow disk unsaved`. */
export function addUnsavedCommand(disk: Command): void {
  const command = disk
    .command("unsaved")
    .description(
      "list local images of killed processes and lost disks, which may have unsaved changes",
    )
    .addArgument(storeArgument())
    .addOption(imagesOption())
    .addOption(jsonOption())
    .action(unsaved);
  addStoreTransferOptions(command);
}

async function unsaved(place: string, flags: StoreFlags): Promise<void> {
  const images: UnsavedImage[] = [];
  await withStore(place, flags, async (store) => {
    for await (const image of store.unsaved()) images.push(image);
  });
  await print(flags.json ? jsonOf({ images }) : columns([HEAD, ...images.map(rowOf)]));
}

const HEAD = ["disk", "generation", "changed", "image"];

function rowOf({ name, generation, changedBytes, image }: UnsavedImage): string[] {
  const changed = changedBytes === undefined ? "unknown" : prettyBytes(changedBytes);
  return [oneLine(name), String(generation ?? "unknown"), changed, oneLine(image)];
}
