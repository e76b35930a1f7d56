// Audits lockfiles: crates with cargo-deny, npm packages by what npm has locked.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";

import { inRoot } from "../lib/paths.mjs";
import { attempt, output, run, StepError, step } from "../lib/run.mjs";
import { PACKAGE_FOLDERS } from "../lib/suites.mjs";

/** Folders of the published npm packages. */
export const PUBLISHED = Object.values(PACKAGE_FOLDERS);

/** Packages whose manifest names no licence but whose licence file was read: MIT. Development only. */
const LICENSED_BY_FILE = new Set(["node_modules/union"]);

/**
 * Returns the folders with a lockfile of this name that git tracks.
 *
 * @param {"Cargo.lock" | "package-lock.json"} name
 */
function foldersWith(name) {
  const folders = output("git", ["ls-files", name, `*/${name}`])
    .trim()
    .split("\n")
    .map(dirname);
  if (!folders.includes(".")) throw new StepError(`git does not track ${name}`);
  return folders;
}

/**
 * @typedef {{ version?: string, license?: string, integrity?: string, resolved?: string, link?: boolean, inBundle?: boolean, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Locked
 */

/**
 * Returns the packages that npm has locked, by their place in `node_modules`; workspaces by their folder.
 *
 * @param {string} folder
 * @returns {Record<string, Locked>}
 */
export function lockedPackages(folder) {
  return JSON.parse(readFileSync(inRoot(folder, "package-lock.json"), "utf8")).packages;
}

/** Returns the locked third-party packages by place. @param {string} folder */
export function foreignPackages(folder) {
  const all = Object.entries(lockedPackages(folder));
  return all.filter(([place, { link }]) => place.includes("node_modules/") && link !== true);
}

/** Audits all Cargo workspaces with cargo-deny and deny.toml. @param {{ advisories: boolean }} options */
export function auditCrates({ advisories }) {
  const checks = ["bans", "licenses", "sources", ...(advisories ? ["advisories"] : [])];
  for (const folder of foldersWith("Cargo.lock")) {
    step(`Rust: ${folder === "." ? "the workspace" : folder}: ${checks.join(", ")}`);
    // An exception in deny.toml that the main workspace does not need is stale.
    const unneeded = folder === "." ? "--deny" : "--allow";
    run("cargo", [
      ...["deny", "--manifest-path", `${folder}/Cargo.toml`, "--workspace", "--locked"],
      ...["--config", "deny.toml", "check", "--hide-inclusion-graph"],
      ...[unneeded, "unmatched-skip-root", ...checks],
    ]);
  }
}

/** Audits all npm lockfiles. @param {{ advisories: boolean }} options */
export function auditPackages({ advisories }) {
  for (const folder of foldersWith("package-lock.json")) {
    step(`npm: ${folder === "." ? "the workspace" : folder}`);
    checkTree(folder, ["--package-lock-only"]);
    const wrong = wrongEntries(foreignPackages(folder));
    if (wrong.length > 0) throw new StepError(`${folder}/package-lock.json:\n${wrong.join("\n")}`);
  }
  // Only the main tree: the others also contain locally packed packages, which no lockfile lists.
  checkTree(".");
  if (!advisories) return;
  step("npm: advisories");
  const workspaces = PUBLISHED.map((folder) => `--workspace=${folder}`);
  const { status, output: report, errors } = npm(".", ["audit", "--omit=dev", ...workspaces]);
  if (status !== 0) throw new StepError(`npm audit: ${report}${errors}`);
}

/** Fails if a package is missing, invalid or extraneous. @param {string} folder @param {string[]} args */
function checkTree(folder, args = []) {
  const { status, output: tree, errors } = npm(folder, ["ls", "--all", "--json", ...args]);
  const { problems = [] } = tree === "" ? {} : JSON.parse(tree);
  if (status !== 0 || problems.length > 0) {
    throw new StepError(`npm ls --all, in ${folder}:\n${problems.join("\n") || errors}`);
  }
}

/**
 * Returns the locked packages that are not from a registry, or lack a digest or a licence. `.npmrc` keeps
 * registry addresses out of lockfiles, so a package with an address comes from elsewhere.
 *
 * @param {[place: string, Locked][]} entries
 */
export function wrongEntries(entries) {
  return entries.flatMap(([place, { resolved, integrity, inBundle, license }]) => [
    ...(resolved === undefined ? [] : [`${place}: from ${resolved}`]),
    // The digest of the enclosing package covers a bundled one.
    ...(integrity || inBundle ? [] : [`${place}: without a digest`]),
    ...(license || LICENSED_BY_FILE.has(place) ? [] : [`${place}: without a licence`]),
  ]);
}

/** @param {string} folder @param {string[]} args */
const npm = (folder, args) =>
  attempt("npm", [...args, "--loglevel=error"], { cwd: inRoot(folder), stdout: "pipe" });
