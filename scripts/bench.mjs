// Runs benchmarks, or writes the report of records: `npm run bench -- [SUITE ...] [--quick] [--json FILE]`, or
// `npm run bench -- report [FILE ...]`.
import { writeFileSync } from "node:fs";

import { parse } from "../bench/harness/arguments.mjs";
import { machine, versions } from "../bench/harness/machine.mjs";
import { apart, orMissing, sayMissing } from "../bench/harness/missing.mjs";
import { recordText } from "../bench/harness/record.mjs";
import { printSummary } from "../bench/harness/summary.mjs";
import { forPeople, SUITES, secondsOf } from "../bench/suites/index.mjs";
import { build } from "./build.mjs";
import { main, StepError, step } from "./lib/run.mjs";
import { installSuite } from "./lib/suites.mjs";
import { setup } from "./setup.mjs";

/**
 * What was measured. A quick run has less data than a full one, of which `details` tell.
 *
 * @typedef {{ suite: string, workload: string, method: string, unit: string, median: number, min: number, max: number, details?: Record<string, number> | undefined }} Result
 */

/** What could not be measured, and why. @typedef {{ suite: string, workload?: string, method?: string, why: string }} Missing */

/** @typedef {Result | Missing} Measured */

await main(async () => {
  const task = parse(process.argv.slice(2));
  if ("report" in task) {
    const { report } = await import("../bench/report/index.mjs");
    await report(task.report);
  } else {
    await bench(task);
  }
});

/** @param {import("../bench/harness/arguments.mjs").Run} task */
async function bench({ suites, isQuick, json }) {
  setup();
  build();
  // Node 24, and what else has its first uses measured.
  installSuite("tests/runtimes", ["hedgerow"]);
  const { results, missing } = apart(await measure(suites, isQuick));
  if (json !== undefined) {
    const date = new Date().toISOString();
    const about = { machine: machine(), date, quick: isQuick, suites, versions: versions() };
    writeFileSync(json, recordText({ ...about, missing, results }));
    step(`written to ${json}`);
  }
  printSummary(results);
  const unfounded = await claims(results, suites);
  const problems = [...(missing.length === 0 ? [] : [sayMissing(missing)]), ...unfounded];
  if (problems.length > 0) throw new StepError(problems.join("\n"));
}

/** Everything is installed and built before anything is measured. @param {string[]} names @param {boolean} isQuick */
async function measure(names, isQuick) {
  const measured = /** @type {Measured[]} */ ([]);
  const ready = /** @type {(() => Promise<Measured[]>)[]} */ ([]);
  for (const name of names) {
    const { prepare, measure: measureSuite } = await suite(name);
    const failure = await orMissing(name, () => {
      const prepared = prepare?.();
      ready.push(() => timed(name, () => measureSuite(isQuick, prepared)));
      return [];
    });
    measured.push(...failure);
  }
  step(`${names.join(", ")}: about ${forPeople(secondsOf(names, isQuick))} in all`);
  for (const action of ready) measured.push(...(await action()));
  return measured;
}

/** @param {string} name */
async function suite(name) {
  const { load } = /** @type {import("../bench/suites/index.mjs").Entry} */ (SUITES[name]);
  return load();
}

/** @param {string} name @param {() => Promise<Measured[]>} action */
async function timed(name, action) {
  const begin = performance.now();
  const measured = await orMissing(name, action);
  step(`${name} took ${forPeople((performance.now() - begin) / 1000)}`);
  return measured;
}

/** Prints what README claims beside the results. Returns what of it has none. @param {Result[]} results @param {string[]} suites */
async function claims(results, suites) {
  const { printClaims } = await import("../bench/report/claims/index.mjs");
  try {
    printClaims(results, suites);
    return [];
  } catch (error) {
    if (error instanceof StepError) return [error.message];
    throw error;
  }
}
