// Installs test suites with their own npm packages and Hedgerow's packages as published.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "./paths.mjs";
import { capture, run, StepError, step } from "./run.mjs";
import { whenChanged } from "./stamp.mjs";

const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

/** Folders of the published packages, by name. */
const PUBLISHED = {
  hedgerow: "js/edge",
  "@hedgerow/snapshot": "js/snapshot",
  "@hedgerow/cli": "js/cli",
};

/**
 * Installs the lockfile of a suite, then tarballs of this repository's packages, unless both are up to date.
 *
 * @param {string} folder from the root of the repository
 * @param {(keyof typeof PUBLISHED)[]} packages
 */
export function installSuite(folder, packages = []) {
  const cwd = inRoot(folder);
  const tarballs = packages.map(pack);
  const inputs = ["package.json", "package-lock.json"].map((name) => join(cwd, name));
  whenChanged(join(cwd, "node_modules", ".inputs"), inputs, digest(tarballs), () => {
    step(`npm packages: ${[folder, ...packages].join(", ")}`);
    run("npm", ["install", "--no-save", ...QUIET], { cwd });
    if (tarballs.length === 0) return;
    run("npm", ["install", "--no-save", ...QUIET, ...tarballs], { cwd });
  });
}

/**
 * The suites, and the packages of this repository that each installs.
 *
 * @type {Record<string, (keyof typeof PUBLISHED)[]>}
 */
const OF_TESTS = {
  "tests/adapters/undici/8": [],
  "tests/packaging": ["hedgerow", "@hedgerow/snapshot", "@hedgerow/cli"],
  "tests/runtimes": ["hedgerow"],
};

/** Installs all suites. The packages must be built. */
export function installTestSuites() {
  for (const [folder, packages] of Object.entries(OF_TESTS)) installSuite(folder, packages);
}

/** Installs the suites' third-party packages before the build, if there are none yet: two gigabytes. */
export function fetchTestSuites() {
  for (const folder of Object.keys(OF_TESTS)) {
    const cwd = inRoot(folder);
    if (existsSync(join(cwd, "node_modules"))) continue;
    step(`npm packages: ${folder}`);
    run("npm", ["install", "--no-save", ...QUIET], { cwd });
  }
}

/** Tarballs packed so far: several suites share a package. @type {Map<keyof typeof PUBLISHED, string>} */
const packed = new Map();

/** Packs a built package as for publishing and returns the path of the tarball. @param {keyof typeof PUBLISHED} name */
function pack(name) {
  const before = packed.get(name);
  if (before !== undefined) return before;
  const destination = inRoot("target", "packed", name.replace("/", "-"));
  rmSync(destination, { recursive: true, force: true });
  mkdirSync(destination, { recursive: true });
  const args = ["pack", "--silent", `--workspace=${PUBLISHED[name]}`];
  const file = capture("npm", [...args, `--pack-destination=${destination}`], { showErrors: true });
  if (file === undefined) throw new StepError(`npm could not pack ${name}`);
  const tarball = join(destination, file.trim());
  packed.set(name, tarball);
  return tarball;
}

/** @param {string[]} files */
function digest(files) {
  const digest = createHash("sha256");
  for (const file of files) digest.update(readFileSync(file));
  return digest.digest("hex");
}
