// Installs test suites with their own npm packages and Hedgerow's packages as published.
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "./paths.mjs";
import { output, run, StepError, step } from "./run.mjs";
import { whenChanged } from "./stamp.mjs";

/** Folders of the published packages, by name. */
export const PACKAGE_FOLDERS = {
  hedgerow: "js/edge",
  "@hedgerow/snapshot": "js/snapshot",
  "@hedgerow/fleet": "js/fleet",
  "@hedgerow/cli": "js/cli",
  "create-hedgerow": "js/create",
};

/** @typedef {(keyof typeof PACKAGE_FOLDERS)[]} Packages */

/**
 * The suites of `npm test`, and the packages of this repository that each installs.
 *
 * @type {Record<string, Packages>}
 */
const OF_TESTS = {
  "tests/adapters/undici/8": [],
  "tests/packaging": [
    "hedgerow",
    "@hedgerow/snapshot",
    "@hedgerow/fleet",
    "@hedgerow/cli",
    "create-hedgerow",
  ],
  "tests/runtimes": ["hedgerow"],
  "tests/services": [],
};

/**
 * Installs the lockfile of a suite, then tarballs of this repository's packages, unless both are up to date.
 *
 * @param {string} folder from the root of the repository
 * @param {Packages} packages
 */
export function installSuite(folder, packages = []) {
  const tarballs = packages.map(pack);
  const inputs = [`${folder}/package.json`, `${folder}/package-lock.json`, ...tarballs];
  whenChanged(`${folder}/node_modules`, inputs, () => {
    step(`npm packages: ${[folder, ...packages].join(", ")}`);
    npmInstall(folder);
    if (tarballs.length > 0) npmInstall(folder, tarballs);
  });
}

/** Installs all suites. The packages must be built. */
export function installTestSuites() {
  for (const [folder, packages] of Object.entries(OF_TESTS)) installSuite(folder, packages);
}

/** Installs the suites' third-party packages before the build, if there are none yet: two gigabytes. */
export function fetchTestSuites() {
  for (const folder of Object.keys(OF_TESTS)) {
    if (existsSync(inRoot(folder, "node_modules"))) continue;
    step(`npm packages: ${folder}`);
    npmInstall(folder);
  }
}

/** @param {string} folder @param {string[]} [tarballs] default: the lockfile */
function npmInstall(folder, tarballs = []) {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  run("npm", ["install", "--no-save", ...quiet, ...tarballs], { cwd: inRoot(folder) });
}

/** Packs all packages: the set-up of tests that install them. The packages must be built. */
export function setup() {
  for (const name of /** @type {Packages} */ (Object.keys(PACKAGE_FOLDERS))) pack(name);
}

/** Folders of a package that are not packed. */
const NOT_PACKED = ["node_modules", "src", "test"];

/**
 * Packs a built package as for publishing, unless it has not changed, and returns the path of the tarball.
 *
 * @param {keyof typeof PACKAGE_FOLDERS} name
 */
function pack(name) {
  const workspace = PACKAGE_FOLDERS[name];
  const inputs = readdirSync(inRoot(workspace)).filter((entry) => !NOT_PACKED.includes(entry));
  const folder = packedFolder(name);
  whenChanged(
    folder,
    inputs.map((entry) => `${workspace}/${entry}`),
    () => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      const options = [`--workspace=${workspace}`, `--pack-destination=${folder}`];
      output("npm", ["pack", "--silent", ...options]);
    },
  );
  return tarballOf(name);
}

/** Returns the tarball of a package, which the set-up of tests packs. @param {string} name */
export function tarballOf(name) {
  const folder = packedFolder(name);
  const file = readdirSync(folder).find((entry) => entry.endsWith(".tgz"));
  if (file === undefined) {
    throw new StepError(`expected ${name} in ${folder}; run npm test, which packs it`);
  }
  return join(folder, file);
}

/** Returns the folder with the tarball of a package. @param {string} name */
const packedFolder = (name) => inRoot("target", "packed", name.replace("/", "-"));
