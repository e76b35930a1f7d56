// Real paths in great number: those of the packages that set-up and build have installed.
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { inRoot } from "./paths.mjs";
import { capture } from "./run.mjs";

/** The folders of npm packages, of crates, and of Rust's own library. */
function folders() {
  const cargo = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const sysroot = capture("rustc", ["--print", "sysroot"])?.trim() ?? "";
  return {
    npm: inRoot("node_modules"),
    crates: join(cargo, "registry", "src"),
    rust: join(sysroot, "lib", "rustlib", "src"),
  };
}

/** The path of every file that is installed, as a site would serve them, in order. */
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
 * What scanners and old links ask for, and no site of these paths has: names that are one letter off.
 *
 * @param {string[]} paths
 */
export const unknownPaths = (paths) => paths.map((path) => `${path.slice(0, -1)}~`);
