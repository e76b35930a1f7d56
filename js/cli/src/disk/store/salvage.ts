import { Argument, type Command } from "commander";

import { jsonOf, oneLine } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { print, table } from "../../print.js";
import { parsePlace } from "../../snapshot/options.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { doWork } from "../../snapshot/work.js";
import { printGeneration } from "./generation.js";
import { labelOption, type StoreFlags, storeArgument, withStore } from "./open.js";

interface SalvageFlags extends StoreFlags {
  readonly label?: string;
}

const imageArgument = () =>
  new Argument("<image>", "local image, as unsaved prints it").argParser(parsePlace);

/** Adds `hedgerow disk salvage`. */
export function addSalvageCommand(disk: Command): void {
  const command = disk
    .command("salvage")
    .description("save a local image as a new disk, and remove the image")
    .addArgument(storeArgument())
    .addArgument(imageArgument())
    .argument("<name>", "name of the new disk")
    .addOption(labelOption())
    .addOption(jsonOption())
    .action(salvage);
  addStoreTransferOptions(command);
}

/** Adds `hedgerow disk discard`. */
export function addDiscardCommand(disk: Command): void {
  const command = disk
    .command("discard")
    .description("remove a local image without saving its changes")
    .addArgument(storeArgument())
    .addArgument(imageArgument())
    .addOption(jsonOption())
    .action(discard);
  addStoreTransferOptions(command);
}

async function salvage(place: string, image: string, name: string, flags: SalvageFlags) {
  const { label } = flags;
  const generation = await doWork("create", ({ signal }) =>
    withStore(place, flags, (store) => store.salvage(image, name, { label, signal }), { signal }),
  );
  await printGeneration(generation, flags);
}

async function discard(place: string, image: string, flags: StoreFlags): Promise<void> {
  await withStore(place, flags, (store) => store.discard(image));
  await print(flags.json ? jsonOf({ removed: image }) : table({ removed: oneLine(image) }));
}
