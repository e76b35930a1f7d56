// Skips work whose inputs have not changed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

import { root } from "./paths.mjs";

/**
 * Runs `action` unless the folder of its outputs records a run with the same inputs.
 *
 * @param {string} output the folder, which gets a file `.inputs` with their digest
 * @param {string[]} inputs files and folders
 * @param {() => void} action
 * @param {string} [also] anything else that the outputs depend on
 */
export function whenChanged(output, inputs, action, also) {
  const { isCurrent, write } = stampOf(output, inputs, also);
  if (isCurrent) return;
  action();
  write();
}

/**
 * Returns whether the folder records these inputs, and a function that records them: for asynchronous work.
 *
 * @param {string} output
 * @param {string[]} inputs
 */
export function stampOf(output, inputs, also = "") {
  const stamp = resolve(root, output, ".inputs");
  const digest = createHash("sha256").update(also);
  for (const input of inputs) addTo(digest, resolve(root, input));
  const state = digest.digest("hex");
  return {
    isCurrent: existsSync(stamp) && readFileSync(stamp, "utf8") === state,
    write() {
      mkdirSync(resolve(root, output), { recursive: true });
      writeFileSync(stamp, state);
    },
  };
}

/**
 * Adds the relative path and the contents, so that build output remains current in a copy of the repository.
 *
 * @param {import("node:crypto").Hash} digest
 * @param {string} path
 */
function addTo(digest, path) {
  digest.update(`${relative(root, path)}\0`);
  if (!statSync(path).isDirectory()) {
    digest.update(readFileSync(path));
    return;
  }
  for (const name of readdirSync(path).sort()) addTo(digest, join(path, name));
}
