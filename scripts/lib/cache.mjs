// Folders of the cache that clones share, named by a digest of their inputs.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";

import { toolCache } from "./paths.mjs";

/** Returns the part of a file's SHA-256 that names folders made from it. @param {string} path */
export const digestOf = (path) =>
  createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 12);

/**
 * Creates a folder of the shared cache atomically, so that several clones can do it at once.
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
