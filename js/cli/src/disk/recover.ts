/** Recovers changes that were not saved, from the local images of disks. */
import type { UnsavedImage } from "@hedgerow/snapshot";
import { Argument, type Command } from "commander";
import prettyBytes from "pretty-bytes";

import { CliError } from "../error.js";
import { jsonOption } from "../options.js";
import { columns, jsonOf, oneLine, print, table } from "../print.js";
import { doWork } from "../progress.js";
import { addStoreTransferOptions, parsePlace } from "../snapshot/options.js";
import { printGeneration } from "./inspect.js";
import { imagesOption, labelOption, openStore, type StoreFlags, storeArgument } from "./options.js";

const HELP = `
Killed processes and lost disks leave local images, which may have unsaved changes. Without an image,
the command lists them. With one, pass --as to save it or --discard to give up its changes.`;

interface RecoverFlags extends StoreFlags {
  readonly as?: string;
  readonly discard: boolean;
  readonly label?: string;
}

/** Adds `hedgerow disk recover`. */
export function addRecoverCommand(disk: Command): void {
  const command = disk
    .command("recover")
    .description("list local images with unsaved changes; save one as a new disk, or discard it")
    .addArgument(storeArgument())
    .addArgument(new Argument("[image]", "local image, as listed").argParser(parsePlace))
    .option("--as <name>", "save the image as a new disk of this name, and remove the image")
    .addOption(labelOption())
    .option("--discard", "remove the image without saving its changes", false)
    .addOption(imagesOption())
    .addOption(jsonOption())
    .addHelpText("after", HELP)
    .action(recover);
  addStoreTransferOptions(command);
}

async function recover(place: string, image: string | undefined, flags: RecoverFlags) {
  const { as: name, discard } = flags;
  const count = (name === undefined ? 0 : 1) + (discard ? 1 : 0);
  if (image === undefined && count > 0) {
    throw new CliError("ERR_USAGE", "--as and --discard: expected an image with them");
  }
  if (image === undefined) return listUnsaved(place, flags);
  if (count !== 1) {
    const found = count === 0 ? "neither" : "both";
    throw new CliError("ERR_USAGE", `--as and --discard: expected one of them, found ${found}`);
  }
  if (name !== undefined) return saveAs(place, image, name, flags);
  await using store = await openStore(place, flags);
  await store.discard(image);
  await print(flags.json ? jsonOf({ removed: image }) : table({ removed: oneLine(image) }));
}

async function listUnsaved(place: string, flags: RecoverFlags): Promise<void> {
  const images: UnsavedImage[] = [];
  await using store = await openStore(place, flags);
  for await (const image of store.unsaved()) images.push(image);
  await print(flags.json ? jsonOf({ images }) : columns([HEAD, ...images.map(rowOf)]));
}

const HEAD = ["disk", "generation", "changed", "image"];

function rowOf({ name, generation, changedBytes, image }: UnsavedImage): string[] {
  const changed = changedBytes === undefined ? "unknown" : prettyBytes(changedBytes);
  return [oneLine(name), String(generation ?? "unknown"), changed, oneLine(image)];
}

async function saveAs(place: string, image: string, name: string, flags: RecoverFlags) {
  const { label } = flags;
  const generation = await doWork("create", async ({ signal }) => {
    await using store = await openStore(place, flags, { signal });
    return await store.recover(image, name, { label, signal });
  });
  await printGeneration(generation, flags);
}
