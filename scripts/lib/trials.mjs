// The tests that try what differs at random, as often as finds what is seldom: see `tests/support/trials.ts`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "./paths.mjs";
import { run, step } from "./run.mjs";

/** Where such tests are. */
const FOLDERS = [
  "js/cli/test",
  "js/snapshot/test",
  "tests/adapters",
  "tests/node",
  "tests/packaging",
  "tests/readers",
];

/** What they import: that which says how often, or what does. */
const TRIES = /\/support\/(trials|http\/check)\.js"/;

/** @param {string} folder */
function filesIn(folder) {
  const names = readdirSync(inRoot(folder), { recursive: true, encoding: "utf8" });
  const own = names.filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"));
  const files = own.map((name) => join(folder, name));
  return files.filter((file) => TRIES.test(readFileSync(inRoot(file), "utf8")));
}

/** Runs all trials of all of them. */
export function runAllTrials() {
  step("tests that try at random, with all of their trials");
  run("vitest", ["run", ...FOLDERS.flatMap(filesIn)], { env: { HEDGEROW_TRIALS: "all" } });
}
