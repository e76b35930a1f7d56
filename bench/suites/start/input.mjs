// The files that say what packages are first used on. What reads them loads none of the packages.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ rules: string[], header: string, filter: Uint8Array, path: string }} Input */

/** In a folder of its own for each input: a filter, and all else as JSON. */
export const FILES = { filter: "paths.filter", rest: "input.json" };

/** @param {string} folder @returns {Input} */
export function readInput(folder) {
  const rest = JSON.parse(readFileSync(join(folder, FILES.rest), "utf8"));
  return { ...rest, filter: new Uint8Array(readFileSync(join(folder, FILES.filter))) };
}
