// Runs what the gate leaves out, part by part: `npm run verify -- [PART ...] [--seconds S] [--rounds N] [--seed S]`.
import { parseArgs } from "node:util";

import { main, StepError, step } from "./lib/run.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";
import { printTable } from "./lib/table.mjs";
import { verifyCrates } from "./verify/crates.mjs";
import { runDocuments } from "./verify/docs.mjs";
import { fuzz } from "./verify/fuzz.mjs";
import { testSite } from "./verify/site.mjs";
import { soak } from "./verify/soak.mjs";
import { runTrials } from "./verify/trials.mjs";

/** The parts, in the order in which they run. @type {Record<string, (options: Options) => void | Promise<void>>} */
const PARTS = {
  crates: verifyCrates,
  fuzz,
  trials: runTrials,
  docs: runDocuments,
  site: testSite,
  soak,
};

/**
 * `seconds` is the time for each fuzz target, `rounds` and `seeds` are those of the soak.
 *
 * @typedef {{ seconds: string, rounds: string, seeds: string[] }} Options
 */

await main(async () => {
  const { values, positionals } = parseArgs({
    options: {
      seconds: { type: "string", default: "20" },
      // Four to six minutes on two cores.
      rounds: { type: "string", default: "35" },
      seed: { type: "string", multiple: true, default: ["1"] },
    },
    allowPositionals: true,
  });
  const options = {
    seconds: wholeNumber("seconds", values.seconds),
    rounds: wholeNumber("rounds", values.rounds),
    seeds: values.seed.map((seed) => wholeNumber("seed", seed)),
  };
  const parts = positionals.length > 0 ? positionals : Object.keys(PARTS);
  const unknown = parts.filter((part) => !(part in PARTS));
  if (unknown.length > 0) {
    throw new StepError(`expected ${Object.keys(PARTS).join(", ")}, found ${unknown.join(", ")}`);
  }
  await setUpTests();
  const failed = await runParts(parts, options);
  if (failed.length > 0) throw new StepError(failed.join("\n\u2717 "));
});

/**
 * Runs parts, all of them even if one fails, and prints how long each took. Returns the errors.
 *
 * @param {string[]} parts
 * @param {Options} options
 */
async function runParts(parts, options) {
  const failed = [];
  /** @type {[string, string][]} */
  const rows = [];
  for (const part of parts) {
    const begun = performance.now();
    let outcome = "passed";
    try {
      await PARTS[part]?.(options);
    } catch (error) {
      outcome = "failed";
      failed.push(
        `${part}: ${error instanceof StepError ? error.message : /** @type {Error} */ (error).stack}`,
      );
    }
    rows.push([part, `${outcome} in ${((performance.now() - begun) / 60_000).toFixed(1)} min`]);
  }
  step("verified");
  printTable(rows);
  console.log(`${parts.length - failed.length} passed, ${failed.length} failed`);
  return failed;
}

/** @param {string} name @param {string} text */
function wholeNumber(name, text) {
  if (/^[1-9]\d{0,6}$/.test(text)) return text;
  throw new StepError(`--${name}: expected a number from 1 on, found ${text}`);
}
