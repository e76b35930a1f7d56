// Ends a run of Vitest with the command that repeats each failure, and with the slowest files if HEDGEROW_SLOW is set.
import { relative } from "node:path";

import { root } from "./paths.mjs";
import { step } from "./run.mjs";

/** How many of the slowest files are listed. */
const LISTED = 20;

/** Variables that decide what a test tries. */
const VARIABLES = ["TRIALS", "SEED", "SOAK_SEED", "SOAK_ROUNDS"].map((name) => `HEDGEROW_${name}`);

/** @typedef {import("vitest/node").TestModule} TestModule */

export default class {
  /** @param {readonly TestModule[]} modules */
  onTestRunEnd(modules) {
    const failed = modules.flatMap((module) => [...module.children.allTests("failed")]);
    for (const { module, name } of failed) {
      step(`repeat it with: ${repeating(pathOf(module), name)}`);
    }
    if (process.env.HEDGEROW_SLOW === undefined) return;
    const times = modules.map((module) => ({ path: pathOf(module), seconds: secondsOf(module) }));
    times.sort((a, b) => b.seconds - a.seconds);
    step(`the ${LISTED} slowest of ${times.length} files`);
    for (const { path, seconds } of times.slice(0, LISTED)) {
      console.log(`${seconds.toFixed(1).padStart(8)} s  ${path}`);
    }
  }
}

/** @param {TestModule} module */
const pathOf = ({ moduleId }) => relative(root, moduleId);

/** Returns how long the tests and hooks of a file took, and its imports. @param {TestModule} module */
function secondsOf(module) {
  const { collectDuration, duration } = module.diagnostic();
  return (collectDuration + duration) / 1000;
}

/** @param {string} path @param {string} name */
function repeating(path, name) {
  const variables = VARIABLES.filter((variable) => process.env[variable] !== undefined);
  const settings = variables.map((variable) => `${variable}=${process.env[variable]} `).join("");
  const pattern = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("'", ".");
  return `${settings}npx vitest run ${path} -t '${pattern}'`;
}
