// Finds real files and paths in large numbers: those installed on any machine that has built the project.
import { lstatSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";

import { inRoot } from "./paths.mjs";
import { output } from "./run.mjs";

/** @typedef {{ name: string, path: string, stats: import("node:fs").Stats }} InstalledFile */

/** Returns a folder of the Rust toolchain. @param {string[]} parts */
const inToolchain = (...parts) => join(output("rustc", ["--print=sysroot"]).trim(), ...parts);

/**
 * Returns the paths of npm packages, crates and Rust's standard library, as a site would serve them, in order.
 *
 * @returns {string[]}
 */
export function installedPaths() {
  const folders = {
    npm: inRoot("node_modules"),
    crates: join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "src"),
    rust: inToolchain("lib", "rustlib", "src"),
  };
  const paths = Object.entries(folders).flatMap(([name, folder]) => {
    const entries = ifReadable(() => readdirSync(folder, { recursive: true, withFileTypes: true }));
    const files = (entries ?? []).filter((entry) => entry.isFile());
    return files.map((file) => `/${name}/${relative(folder, join(file.parentPath, file.name))}`);
  });
  return paths.sort();
}

/**
 * Returns paths that are missing from such a site: names that differ by one letter.
 *
 * @param {string[]} paths
 */
export const unknownPaths = (paths) => paths.map((path) => `${path.slice(0, -1)}~`);

/**
 * Yields files and symbolic links of the system, npm packages and Rust, always from the folder with the fewest bytes so
 * far.
 *
 * @returns {Generator<InstalledFile, void>}
 */
export function* installedFiles() {
  const folders = {
    lib: "/usr/lib",
    npm: inRoot("node_modules"),
    rust: inToolchain(),
    share: "/usr/share",
  };
  const sources = Object.entries(folders).map(([name, folder]) => ({
    ...{ name, folder, paths: pathsIn(folder), bytes: 0 },
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
 * Yields the files and symbolic links in a folder tree, in order.
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
 * Returns the result of `read`, or `undefined` if the file is inaccessible or has disappeared.
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
