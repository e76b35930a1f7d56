// Reads the input of a first use, without loading any of the packages.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ rules: string[], header: string, filter: Uint8Array, path: string }} Input */

/** The files of an input, in a folder of its own: a filter, and everything else as JSON. */
export const FILES = { filter: "paths.filter", rest: "input.json" };

/** @param {string} folder @returns {Input} */
export function readInput(folder) {
  const rest = JSON.parse(readFileSync(join(folder, FILES.rest), "utf8"));
  return { ...rest, filter: new Uint8Array(readFileSync(join(folder, FILES.filter))) };
}
