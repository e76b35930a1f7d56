// Runs randomised tests with all their trials, and the tests that only `npm run verify` runs.
import { randomInt } from "node:crypto";

import { listFiles, run, step } from "../lib/run.mjs";

/** The module that tests take their number of trials from. */
const TRIALS = "tests/support/trials.ts";

export function runTrials() {
  const seed = String(randomInt(2 ** 31));
  step(`randomised tests with all trials, HEDGEROW_SEED=${seed}, and tests of minutes`);
  const projects = ["--project", "tests", "--project", "verify"];
  run("vitest", ["related", "--run", ...projects, TRIALS, ...listFiles("*.verify.test.ts")], {
    env: { HEDGEROW_TRIALS: "all", HEDGEROW_SEED: seed },
  });
}
