// Auditing npm packages: that lockfiles are whole, and say where packages come from and what they are.
import { inRoot } from "../lib/paths.mjs";
import { attempt, StepError, step } from "../lib/run.mjs";
import { foldersWith, foreignPackages } from "./lockfiles.mjs";

/** The packages that are published. */
export const PUBLISHED = ["js/edge", "js/snapshot", "js/cli"];

/** @param {{ advisories: boolean }} options */
export function auditPackages({ advisories }) {
  for (const folder of foldersWith("package-lock.json")) {
    step(`npm: ${folder === "." ? "the workspace" : folder}`);
    checkTree(folder, ["--package-lock-only"]);
    checkEntries(folder);
  }
  // The others also have what is packed here, which no lockfile can know.
  checkTree(".");
  if (advisories) askForAdvisories();
}

/**
 * That nothing is missing, invalid, or there without being asked for.
 *
 * @param {string} folder
 * @param {string[]} args
 */
function checkTree(folder, args = []) {
  const { status, output, errors } = npm(folder, ["ls", "--all", "--json", ...args]);
  const { problems = [] } = output === "" ? {} : JSON.parse(output);
  if (status !== 0 || problems.length > 0) {
    throw new StepError(`npm ls --all, in ${folder}:\n${problems.join("\n") || errors}`);
  }
}

/** @param {string} folder */
function checkEntries(folder) {
  const wrong = wrongEntries(foreignPackages(folder));
  if (wrong.length > 0) throw new StepError(`${folder}/package-lock.json:\n${wrong.join("\n")}`);
}

/** Packages whose manifest names no licence, with a licence file that was read: MIT. For development only. */
const LICENSED_BY_FILE = new Set(["node_modules/union"]);

/**
 * The packages of a lockfile that do not come from a registry, or have no digest or no licence. That a
 * registry's address is left out of lockfiles is set in .npmrc: what has an address comes from elsewhere.
 *
 * @param {[place: string, import("./lockfiles.mjs").Locked][]} entries
 */
export function wrongEntries(entries) {
  return entries.flatMap(([place, { resolved, integrity, inBundle, license }]) => [
    ...(resolved === undefined ? [] : [`${place}: from ${resolved}`]),
    // What comes inside another package is covered by the digest of that.
    ...(integrity || inBundle ? [] : [`${place}: without a digest`]),
    ...(license || LICENSED_BY_FILE.has(place) ? [] : [`${place}: without a licence`]),
  ]);
}

/** Asks the registry what is known of the packages that people get with ours. */
function askForAdvisories() {
  step("npm: advisories");
  const workspaces = PUBLISHED.map((folder) => `--workspace=${folder}`);
  const { status, output, errors } = npm(".", ["audit", "--omit=dev", ...workspaces]);
  if (status !== 0) throw new StepError(`npm audit: ${output}${errors}`);
}

/**
 * @param {string} folder
 * @param {string[]} args
 */
const npm = (folder, args) =>
  attempt("npm", [...args, "--loglevel=error"], { cwd: inRoot(folder), stdout: "pipe" });
