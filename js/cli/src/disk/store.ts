/** The common parts of the commands of a store: opening it, and printing a generation. */
import {
  DiskStore,
  type Generation,
  type SavedGeneration,
  type StoreOptions,
} from "@hedgerow/snapshot";
import { Argument, Option } from "commander";

import { type OutputFlags, parseWhole } from "../options.js";
import { escapeControls, jsonOf, print, size, table, utc } from "../print.js";
import { parsePlace, STORE_PLACE, type TransferFlags, transferOf } from "../snapshot/options.js";

/** Flags of every command that opens a store. */
export interface StoreFlags extends OutputFlags, TransferFlags {
  readonly images?: string;
}

export const storeArgument = () =>
  new Argument("<store>", `store of disks: ${STORE_PLACE}`).argParser(parsePlace);

export const nameArgument = () => new Argument("<name>", "name of the disk");

export const imagesOption = () =>
  new Option(
    "--images <directory>",
    "directory of the local images (default: hedgerow/disks in XDG_STATE_HOME or ~/.local/state; with --cache, the directory of the cache with the suffix -disks)",
  );

/** Flags of commands that take a generation. */
export interface GenerationFlags extends StoreFlags {
  readonly generation?: number;
}

export const generationOption = () =>
  new Option("--generation <number>", "number of a generation (default: the last one)").argParser(
    parseWhole,
  );

export const labelOption = () => new Option("--label <text>", "note on the generation");

export const dryRunOption = (what: string) =>
  new Option("--dry-run", `only print what would be ${what}`).default(false);

/** Opens a store. By default, it must exist. */
export function openStore(
  place: string,
  flags: StoreFlags,
  options: StoreOptions = {},
): Promise<DiskStore> {
  const { headers: _, ...transfer } = transferOf(flags);
  return DiskStore.open(place, { create: false, images: flags.images, ...transfer, ...options });
}

/** A generation, with the measurements of its save where a command reports them. */
type Printed = Generation & Partial<SavedGeneration>;

/** Prints a generation as a table or as one JSON object. */
export async function printGeneration(generation: Printed, { json }: OutputFlags): Promise<void> {
  await print(json ? jsonOf(generation) : table(rowsOf(generation)));
}

/** Returns the rows of a table. */
function rowsOf(generation: Printed): Record<string, string> {
  const { number, digest, time, bytes, totalBytes, label, parent } = generation;
  const { changedBytes, pause } = generation;
  return {
    generation: String(number),
    identity: digest,
    saved: utc(time),
    ...(label === undefined ? {} : { label: escapeControls(label) }),
    ...(parent === undefined ? {} : { "fork of": forkOf(generation) }),
    size: size(bytes),
    "with bases": size(totalBytes),
    ...volumeRows(generation),
    ...(changedBytes === undefined ? {} : { changed: size(changedBytes) }),
    ...(pause === undefined ? {} : { "writes paused": `${pause.toFixed(1)} ms` }),
  };
}

/** Returns the rows of what a generation has beside its disk. */
export function volumeRows({ volumes, metadata }: Generation): Record<string, string> {
  const kinds = Object.entries(volumes).map(([name, { kind }]) => `${name} (${kind})`);
  return {
    ...(kinds.length === 0 ? {} : { volumes: kinds.join(", ") }),
    ...(metadata === undefined ? {} : { metadata: escapeControls(JSON.stringify(metadata)) }),
  };
}

/** Returns the generation that a fork began from, or nothing. */
export function forkOf({ parent }: Generation): string {
  return parent === undefined ? "" : `${escapeControls(parent.name)}, ${parent.generation}`;
}
