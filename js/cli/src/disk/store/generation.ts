import type { Generation, SavedGeneration } from "@hedgerow/snapshot";

import { escapeControls, jsonOf } from "../../one-line.js";
import type { OutputFlags } from "../../options.js";
import { print, size, table, utc } from "../../print.js";

/** A generation, with the measurements of its save where a command reports them. */
type Printed = Generation & Partial<SavedGeneration>;

/** Prints a generation as a table or as one JSON object. */
export async function printGeneration(generation: Printed, { json }: OutputFlags): Promise<void> {
  await print(json ? jsonOf(generation) : table(rowsOf(generation)));
}

/** Returns the rows of a table. */
export function rowsOf(generation: Printed): Record<string, string> {
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
    ...(changedBytes === undefined ? {} : { changed: size(changedBytes) }),
    ...(pause === undefined ? {} : { "writes paused": `${pause.toFixed(1)} ms` }),
  };
}

/** Returns where a fork began, or nothing. */
export function forkOf({ parent }: Generation): string {
  return parent === undefined ? "" : `${escapeControls(parent.name)}, ${parent.generation}`;
}
