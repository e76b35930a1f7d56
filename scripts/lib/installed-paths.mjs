// Lists real paths in large numbers: those of the packages that set-up and build have installed.
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { inRoot } from "./paths.mjs";
import { capture } from "./run.mjs";

/** Folders of npm packages, crates, and Rust's standard library. */
function folders() {
  const cargo = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const sysroot = capture("rustc", ["--print", "sysroot"])?.trim() ?? "";
  return {
    npm: inRoot("node_modules"),
    crates: join(cargo, "registry", "src"),
    rust: join(sysroot, "lib", "rustlib", "src"),
  };
}

/** Returns the path of every installed file, as a site would serve it, in order. */
export function installedPaths() {
  const paths = Object.entries(folders()).flatMap(([name, folder]) =>
    filesOf(folder).map((file) => `/${name}/${file}`),
  );
  return paths.sort();
}

/** @param {string} folder @returns {string[]} */
function filesOf(folder) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * Returns paths that are missing from such a site: names that differ by one letter.
 *
 * @param {string[]} paths
 */
export const unknownPaths = (paths) => paths.map((path) => `${path.slice(0, -1)}~`);
