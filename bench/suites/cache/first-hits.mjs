// First hits, each in a process of its own.
import { fileURLToPath } from "node:url";

import { runOnce } from "../../harness/turns.mjs";

/** @typedef {{ open: number, get: number }} FirstHit in milliseconds */

const SCRIPT = fileURLToPath(new URL("first-hit.mjs", import.meta.url));

/**
 * @param {string} directory
 * @param {string} source
 * @param {string[]} digest none to ask the server
 * @returns {FirstHit}
 */
export function firstHit(directory, source, ...digest) {
  return JSON.parse(runOnce(process.execPath, SCRIPT, directory, source, ...digest));
}
