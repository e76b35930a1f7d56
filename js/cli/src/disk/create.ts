/** The commands that create, fork, roll back and remove disks of a store. */
import type { NewVolume } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { CliError } from "../error.js";
import { interruptible } from "../interrupt.js";
import { jsonOption, parseSize, parseWhole } from "../options.js";
import { jsonOf, print, table } from "../print.js";
import { doWork } from "../progress.js";
import {
  addStoreTransferOptions,
  addTransferOptions,
  digestOption,
  formatOption,
  PLACE,
  parsePlace,
  type ReadFlags,
  transferOf,
  type WorkFlags,
  workersOption,
} from "../snapshot/options.js";
import { printGeneration } from "./inspect.js";
import {
  type GenerationFlags,
  generationOption,
  labelOption,
  nameArgument,
  openStore,
  type StoreFlags,
  storeArgument,
} from "./options.js";

interface CreateFlags extends StoreFlags, ReadFlags, WorkFlags {
  readonly from?: string;
  readonly image?: string;
  readonly size?: number;
  readonly format?: "raw";
  readonly volume?: Volumes;
  readonly label?: string;
}

type Volumes = Readonly<Record<string, NewVolume>>;

/** Adds `hedgerow disk create`. */
export function addCreateCommand(disk: Command): void {
  const command = disk
    .command("create")
    .description("create a disk, and the store if there is none")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .option("--from <place>", `snapshot to copy as the content: ${PLACE}`, parsePlace)
    .option(
      "--image <file>",
      "disk image to store as the content; it must not change meanwhile",
      parsePlace,
    )
    .addOption(formatOption())
    .option("--size <size>", "size of an empty disk, such as 10GiB", parseSize)
    .option(
      "--volume <name=size>",
      "empty volume that is saved together with the disk, such as memory=512MiB; without a size, a small file (repeatable)",
      parseVolume,
    )
    .addOption(digestOption())
    .addOption(labelOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(create);
  addTransferOptions(command);
}

async function create(place: string, name: string, flags: CreateFlags): Promise<void> {
  const { from, image, size, format, digest, label, workers, volume: volumes } = flags;
  const count = [from, image, size].filter((content) => content !== undefined).length;
  if (count !== 1) {
    const found = count === 0 ? "none" : `${count}`;
    const message = `--from, --image and --size: expected one of them, found ${found}`;
    throw new CliError("ERR_USAGE", message);
  }
  const { headers } = transferOf(flags);
  const content = { from, image, size, format, digest, headers };
  const options = { ...content, volumes, label, workers };
  const generation = await doWork("create", async ({ signal, onProgress }) => {
    await using store = await openStore(place, flags, { create: true, signal });
    return await store.create(name, { ...options, signal, onProgress });
  });
  await printGeneration(generation, flags);
}

/** Adds a volume to those before. */
function parseVolume(text: string, before: Volumes = {}): Volumes {
  const [, name = "", size] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  return { ...before, [name]: size === undefined ? {} : { size: parseSize(size) } };
}

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
  await interruptible(async (signal) => {
    await using store = await openStore(place, flags, { signal });
    await store.fork(name, forks, { generation, signal });
  });
  await print(json ? jsonOf({ forks }) : forks.map((each) => `${each}\n`).join(""));
}

/** Adds `hedgerow disk rollback`. */
export function addRollbackCommand(disk: Command): void {
  const command = disk
    .command("rollback")
    .description("make an earlier generation of a detached disk the last one again")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .argument("<generation>", "number of the generation", parseWhole)
    .addOption(jsonOption())
    .action(rollback);
  addStoreTransferOptions(command);
}

async function rollback(place: string, name: string, number: number, flags: StoreFlags) {
  const generation = await interruptible(async (signal) => {
    await using store = await openStore(place, flags, { signal });
    return await store.rollback(name, number, { signal });
  });
  await printGeneration(generation, flags);
}

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
  await using store = await openStore(place, flags);
  await store.remove(name);
  await print(flags.json ? jsonOf({ removed: name }) : table({ removed: name }));
}
