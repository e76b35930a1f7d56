// Runs the test of the whole system for several minutes.
import { run, step } from "../lib/run.mjs";

/** @param {import("../verify.mjs").Options} options */
export function soak({ rounds, seeds }) {
  for (const seed of seeds) {
    step(`the whole system, ${rounds} rounds of seed ${seed}`);
    const env = {
      HEDGEROW_SOAK_SEED: seed,
      HEDGEROW_SOAK_ROUNDS: rounds,
      HEDGEROW_TRIALS: "all",
    };
    const flags = ["--disable-console-intercept", "--typecheck.enabled=false"];
    run("vitest", ["run", ...flags, "tests/system/system.verify.test.ts"], { env });
  }
  step(`no data was lost and nothing leaked: seed ${seeds.join(", ")}`);
}
