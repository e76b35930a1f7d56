// Which lockfiles there are: those that git knows.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";

import { inRoot } from "../lib/paths.mjs";
import { capture, StepError } from "../lib/run.mjs";

/** The folders that have a lockfile of this name. @param {"Cargo.lock" | "package-lock.json"} name */
export function foldersWith(name) {
  const files = capture("git", ["ls-files", name, `*/${name}`], { showErrors: true });
  const folders = (files ?? "").split("\n").filter(Boolean).map(dirname);
  if (folders.length === 0) throw new StepError(`git knows of no ${name}`);
  return folders;
}

/** @typedef {{ version?: string, license?: string, integrity?: string, resolved?: string, link?: boolean, inBundle?: boolean, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Locked */

/**
 * What npm has locked, by the places that packages have in `node_modules`; workspaces, by their folders.
 *
 * @param {string} folder
 * @returns {Record<string, Locked>}
 */
export function lockedPackages(folder) {
  return JSON.parse(readFileSync(inRoot(folder, "package-lock.json"), "utf8")).packages;
}

/** Those of them that come from elsewhere, by their places. @param {string} folder */
export function foreignPackages(folder) {
  const all = Object.entries(lockedPackages(folder));
  return all.filter(([place, { link }]) => place.includes("node_modules/") && link !== true);
}

/** The name of the package at a place. @param {string} place */
export const nameAt = (place) => place.slice(place.lastIndexOf("node_modules/") + 13);
