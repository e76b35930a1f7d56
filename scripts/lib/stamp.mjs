// Skips work whose inputs have not changed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Runs `action` unless `stamp` records a run with the same inputs.
 *
 * @param {string} stamp a file with a digest of the inputs; it lies among the outputs and is deleted with them
 * @param {string[]} inputs files and folders
 * @param {string} also anything else that the outputs depend on
 * @param {() => void} action
 */
export function whenChanged(stamp, inputs, also, action) {
  const { isCurrent, write } = stampOf(stamp, inputs, also);
  if (isCurrent) return;
  action();
  write();
}

/**
 * Returns whether a stamp records these inputs, and a function that records them: for work that is asynchronous.
 *
 * @param {string} stamp
 * @param {string[]} inputs
 * @param {string} also
 */
export function stampOf(stamp, inputs, also) {
  const digest = createHash("sha256").update(also);
  for (const input of inputs) addTo(digest, input);
  const state = digest.digest("hex");
  return {
    isCurrent: existsSync(stamp) && readFileSync(stamp, "utf8") === state,
    write() {
      mkdirSync(dirname(stamp), { recursive: true });
      writeFileSync(stamp, state);
    },
  };
}

/**
 * @param {import("node:crypto").Hash} digest
 * @param {string} path
 */
function addTo(digest, path) {
  digest.update(`${path}\0`);
  if (!statSync(path).isDirectory()) {
    digest.update(readFileSync(path));
    return;
  }
  for (const name of readdirSync(path).sort()) addTo(digest, join(path, name));
}
