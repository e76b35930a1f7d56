import type { SavedGeneration } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { jsonOption, type OutputFlags } from "../../options.js";
import { askAttached } from "./control/client.js";
import { printGeneration } from "./generation.js";
import { labelOption, nameArgument, storeArgument } from "./open.js";

interface SaveFlags extends OutputFlags {
  readonly label?: string;
}

/** Adds `hedgerow disk save`. */
export function addSaveCommand(disk: Command): void {
  disk
    .command("save")
    .description(
      "save a disk that a process of this user has attached on this host, while it is in use",
    )
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(labelOption())
    .addOption(jsonOption())
    .action((place: string, name: string, flags: SaveFlags) => ask(place, name, "save", flags));
}

/** Adds `hedgerow disk detach`. */
export function addDetachCommand(disk: Command): void {
  disk
    .command("detach")
    .description(
      "save and detach a disk that a process of this user has attached on this host; ends that process",
    )
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(jsonOption())
    .action((place: string, name: string, flags: SaveFlags) => ask(place, name, "detach", flags));
}

async function ask(place: string, name: string, action: "save" | "detach", flags: SaveFlags) {
  const { label } = flags;
  const saved = (await askAttached(place, name, action, { label })) as SavedGeneration;
  await printGeneration({ ...saved, time: new Date(saved.time) }, flags);
}
