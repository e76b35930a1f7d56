// Runs randomised tests with enough trials to find rare failures: see `tests/support/trials.ts`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "./paths.mjs";
import { run, step } from "./run.mjs";

/** Folders with such tests. */
const FOLDERS = [
  "js/cli/test",
  "js/snapshot/test",
  "tests/adapters",
  "tests/node",
  "tests/packaging",
  "tests/readers",
];

/** Matches the import of the number of trials, directly or through a helper. */
const TRIES = /\/support\/(trials|http\/check)\.js"/;

/** @param {string} folder */
function filesIn(folder) {
  const names = readdirSync(inRoot(folder), { recursive: true, encoding: "utf8" });
  const own = names.filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"));
  const files = own.map((name) => join(folder, name));
  return files.filter((file) => TRIES.test(readFileSync(inRoot(file), "utf8")));
}

/** Runs all of them with all trials. */
export function runAllTrials() {
  step("randomised tests with all trials");
  run("vitest", ["run", ...FOLDERS.flatMap(filesIn)], { env: { HEDGEROW_TRIALS: "all" } });
}
