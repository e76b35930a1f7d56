// Runs the test of the whole system for several minutes: `npm run soak -- [--rounds N] [--seed S]`. `--seed` is
// repeatable; seeds run one after the other.
import { parseArgs } from "node:util";

import { build } from "./build.mjs";
import { installPrograms } from "./lib/debian.mjs";
import { installGoTool } from "./lib/go.mjs";
import { main, run, StepError, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/** Four to six minutes on two cores. */
const ROUNDS = "35";

/** @param {string} name @param {string} text */
function wholeNumber(name, text) {
  if (/^[1-9]\d{0,6}$/.test(text)) return text;
  throw new StepError(`--${name}: expected a number from 1 on, found ${text}`);
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: ROUNDS },
      seed: { type: "string", multiple: true, default: ["1"] },
    },
  });
  const rounds = wholeNumber("rounds", values.rounds);
  const seeds = values.seed.map((seed) => wholeNumber("seed", seed));
  await setup();
  installPrograms("tests");
  installGoTool("versitygw");
  build();
  for (const seed of seeds) {
    step(`the whole system, ${rounds} rounds of seed ${seed}`);
    const env = {
      HEDGEROW_SOAK_SEED: seed,
      HEDGEROW_SOAK_ROUNDS: rounds,
      HEDGEROW_TRIALS: "all",
    };
    const flags = ["--disable-console-intercept", "--typecheck.enabled=false"];
    run("vitest", ["run", ...flags, "tests/system/system.test.ts"], { env });
  }
  step(`no data was lost and nothing leaked: seed ${seeds.join(", ")}`);
});
