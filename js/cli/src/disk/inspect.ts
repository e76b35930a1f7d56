/** The commands that show and check the content of a store, and how they and others print a generation. */
import type { Generation, Reference, SavedGeneration } from "@hedgerow/snapshot";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { CliError } from "../error.js";
import { interruptible } from "../interrupt.js";
import { jsonOption, type OutputFlags } from "../options.js";
import {
  columns,
  escapeControls,
  grouped,
  jsonOf,
  oneLine,
  print,
  shortIdentity,
  size,
  table,
  utc,
} from "../print.js";
import { doWork } from "../progress.js";
import { addStoreTransferOptions } from "../snapshot/options.js";
import {
  type GenerationFlags,
  generationOption,
  nameArgument,
  openStore,
  type StoreFlags,
  storeArgument,
} from "./options.js";

interface ListFlags extends StoreFlags {
  readonly prefix?: string;
  readonly snapshot?: string;
}

/** Adds `hedgerow disk list`. */
export function addListCommand(disk: Command): void {
  const command = disk
    .command("list")
    .description("print the names of disks in order, one per line, as they are read")
    .addArgument(storeArgument())
    .option("--prefix <text>", "beginning of the names (default: all disks)")
    .option(
      "--snapshot <identity>",
      "list only the generations that need this snapshot, with its size",
    )
    .addOption(jsonOption())
    .action(list);
  addStoreTransferOptions(command);
}

async function list(place: string, flags: ListFlags): Promise<void> {
  const { prefix, snapshot, json } = flags;
  if (snapshot !== undefined) {
    if (prefix === undefined) return listUsers(place, snapshot, flags);
    throw new CliError("ERR_USAGE", "--prefix and --snapshot: expected one of them, found both");
  }
  const names: string[] = [];
  await using store = await openStore(place, flags);
  for await (const name of store.list({ prefix })) {
    if (json) names.push(name);
    else await print(`${oneLine(name)}\n`);
  }
  if (json) await print(jsonOf({ names }));
}

/** Prints the size of a snapshot, and the generations that need it. */
async function listUsers(place: string, identity: string, flags: ListFlags): Promise<void> {
  const explanation = await interruptible(async (signal) => {
    await using store = await openStore(place, flags, { signal });
    return await store.explain(identity, { signal });
  });
  const { bytes, references } = explanation;
  const rows = {
    identity: explanation.digest,
    size: bytes === undefined ? "not in the store" : size(bytes),
    references: grouped(references.length),
  };
  const listed =
    references.length === 0 ? "" : columns([REFERENCES_HEAD, ...references.map(referenceRow)]);
  await print(flags.json ? jsonOf(explanation) : table(rows) + listed);
}

const REFERENCES_HEAD = ["disk", "generation", "as"];

function referenceRow({ name, generation, as }: Reference): string[] {
  return [oneLine(name), String(generation), as];
}

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
  await using store = await openStore(place, flags);
  const status = await store.stat(name);
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
    ...volumeRows(last),
    "own snapshots": size(ownBytes),
    "shared snapshots": size(sharedBytes),
    attached: attached === undefined ? "no" : `by ${escapeControls(attached.owner)}`,
  };
  await print(flags.json ? jsonOf(status) : table(rows));
}

/** Adds `hedgerow disk history`. */
export function addHistoryCommand(disk: Command): void {
  const command = disk
    .command("history")
    .description("list the generations of a disk, oldest first")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(jsonOption())
    .action(history);
  addStoreTransferOptions(command);
}

async function history(place: string, name: string, flags: StoreFlags): Promise<void> {
  const generations: Generation[] = [];
  await using store = await openStore(place, flags);
  for await (const generation of store.history(name)) generations.push(generation);
  const rows = generations.map(historyRow);
  await print(flags.json ? jsonOf({ name, generations }) : columns([HISTORY_HEAD, ...rows]));
}

const HISTORY_HEAD = ["generation", "saved", "size", "with bases", "identity", "fork of", "label"];

function historyRow(generation: Generation): string[] {
  const { number, time, bytes, totalBytes, digest, label = "" } = generation;
  const sizes = [prettyBytes(bytes), prettyBytes(totalBytes)];
  const texts = [shortIdentity(digest), forkOf(generation), escapeControls(label)];
  return [String(number), utc(time), ...sizes, ...texts];
}

/** Adds `hedgerow disk verify`. */
export function addVerifyCommand(disk: Command): void {
  const command = disk
    .command("verify")
    .description("check every byte of a generation, and the sizes of all snapshots of the disk")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(generationOption())
    .addOption(jsonOption())
    .action(verify);
  addStoreTransferOptions(command);
}

async function verify(place: string, name: string, flags: GenerationFlags): Promise<void> {
  const { generation } = flags;
  const verified = await doWork("verify", async ({ signal }) => {
    await using store = await openStore(place, flags, { signal });
    return await store.verify(name, { generation, signal });
  });
  await printGeneration(verified, flags);
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
function volumeRows({ volumes, metadata }: Generation): Record<string, string> {
  const kinds = Object.entries(volumes).map(([name, { kind }]) => `${name} (${kind})`);
  return {
    ...(kinds.length === 0 ? {} : { volumes: kinds.join(", ") }),
    ...(metadata === undefined ? {} : { metadata: escapeControls(JSON.stringify(metadata)) }),
  };
}

/** Returns the generation that a fork began from, or nothing. */
function forkOf({ parent }: Generation): string {
  return parent === undefined ? "" : `${escapeControls(parent.name)}, ${parent.generation}`;
}
