// What is made once for all clones: folders of the shared cache, named for what they are made of.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";

import { toolCache } from "./paths.mjs";

/** What of a file's SHA-256 is in the names of what is made of it. @param {string} path */
export const digestOf = (path) =>
  createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 12);

/**
 * Makes a folder of the shared cache, which appears there only when it is whole, so that several
 * clones may make it at once.
 *
 * @param {string} target
 * @param {(partial: string) => void} make
 */
export function makeWhole(target, make) {
  mkdirSync(toolCache, { recursive: true });
  const partial = `${target}.partial-${process.pid}`;
  try {
    make(partial);
    try {
      renameSync(partial, target);
    } catch (error) {
      // Another clone was first.
      if (!existsSync(target)) throw error;
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
