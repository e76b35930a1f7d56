// Installing suites that have npm packages of their own, and Hedgerow's packages as they are published.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "./paths.mjs";
import { capture, run, StepError, step } from "./run.mjs";
import { whenChanged } from "./stamp.mjs";

const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

/** What is published: folders by names. */
const PUBLISHED = {
  hedgerow: "js/edge",
  "@hedgerow/snapshot": "js/snapshot",
  "@hedgerow/cli": "js/cli",
};

/**
 * Installs what the lockfile of a suite names, and then tarballs of packages of this repository, unless
 * both are those installed last.
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
 * What tests have of their own: folders, and the packages of this repository that each has.
 *
 * @type {Record<string, (keyof typeof PUBLISHED)[]>}
 */
const OF_TESTS = {
  "tests/adapters/undici/8": [],
  "tests/packaging": ["hedgerow", "@hedgerow/snapshot", "@hedgerow/cli"],
  "tests/runtimes": ["hedgerow"],
};

/** Installs all that tests have of their own; to be done when the packages are built. */
export function installTestSuites() {
  for (const [folder, packages] of Object.entries(OF_TESTS)) installSuite(folder, packages);
}

/** Installs what of that is there before the packages are built, if there is nothing yet: two gigabytes. */
export function fetchTestSuites() {
  for (const folder of Object.keys(OF_TESTS)) {
    const cwd = inRoot(folder);
    if (existsSync(join(cwd, "node_modules"))) continue;
    step(`npm packages: ${folder}`);
    run("npm", ["install", "--no-save", ...QUIET], { cwd });
  }
}

/** What was packed already: a package is in several suites. @type {Map<keyof typeof PUBLISHED, string>} */
const packed = new Map();

/** Packs a built package as for publishing. Returns the path of the tarball. @param {keyof typeof PUBLISHED} name */
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
