// Real files in great number: those that are installed on every machine that has built the project.
import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

import { inRoot } from "./paths.mjs";
import { capture } from "./run.mjs";

/** @typedef {{ name: string, path: string, stats: import("node:fs").Stats }} InstalledFile */

const folders = () => ({
  lib: "/usr/lib",
  npm: inRoot("node_modules"),
  rust: capture("rustc", ["--print", "sysroot"])?.trim() ?? "",
  share: "/usr/share",
});

/**
 * The files and symbolic links in these folders, each time the next of the folder that has given the
 * fewest bytes.
 *
 * @returns {Generator<InstalledFile, void>}
 */
export function* installedFiles() {
  const sources = Object.entries(folders()).map(([name, folder]) => ({
    name,
    folder,
    paths: pathsIn(folder),
    bytes: 0,
  }));
  for (;;) {
    const [source] = sources.sort((a, b) => a.bytes - b.bytes);
    if (source === undefined) return;
    const { value: path, done } = source.paths.next();
    if (done) {
      sources.shift();
      continue;
    }
    const stats = ifReadable(() => lstatSync(path));
    if (stats === undefined) continue;
    source.bytes += stats.size;
    yield { name: join(source.name, relative(source.folder, path)), path, stats };
  }
}

/**
 * The files and symbolic links in a folder and those below, in order.
 *
 * @param {string} folder
 * @returns {Generator<string, void>}
 */
function* pathsIn(folder) {
  const entries = ifReadable(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* pathsIn(path);
    else if (entry.isFile() || entry.isSymbolicLink()) yield path;
  }
}

/**
 * What `read` returns, or `undefined` if what it reads is of someone else, or gone by now.
 *
 * @template T
 * @param {() => T} read
 */
export function ifReadable(read) {
  try {
    return read();
  } catch (error) {
    const { code = "" } = /** @type {NodeJS.ErrnoException} */ (error);
    if (["EACCES", "ENOENT", "EPERM"].includes(code)) return undefined;
    throw error;
  }
}
