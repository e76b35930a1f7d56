// Runs suites of benchmarks, writes their record and prints their figures beside those of bench/records.
import { writeFileSync } from "node:fs";

import { StepError, step } from "../scripts/lib/run.mjs";
import { installSuite } from "../scripts/lib/suites.mjs";
import { machine, versions } from "./harness/machine.mjs";
import { missingText, printResults, recordText } from "./harness/output.mjs";
import { orMissing, separate } from "./harness/results.mjs";
import { formatDuration } from "./harness/turns.mjs";
import { figuresOf, readRecords } from "./report/figures.mjs";
import { SUITES, secondsOf } from "./suites/index.mjs";

/** @import { Measured } from "./harness/results.mjs" */

/** Expects a repository that is set up and built. @param {import("./suites/index.mjs").Run} options */
export async function runSuites({ suites, isQuick, json }) {
  // Node 24, and the other engines of the suite `start`.
  installSuite("tests/runtimes", ["hedgerow"]);
  const { results, missing } = separate(await measure(suites, isQuick));
  if (json !== undefined) {
    const date = new Date().toISOString();
    const about = { machine: machine(), date, quick: isQuick, suites, versions: versions() };
    writeFileSync(json, recordText({ ...about, missing, results }));
    step(`wrote ${json}`);
  }
  printResults(results, figuresOf(readRecords()));
  if (missing.length > 0) throw new StepError(missingText(missing));
}

/** Prepares all suites before it measures the first. @param {string[]} names @param {boolean} isQuick */
async function measure(names, isQuick) {
  const measured = /** @type {Measured[]} */ ([]);
  const prepared = /** @type {(() => Promise<Measured[]>)[]} */ ([]);
  for (const name of names) {
    const suite = await /** @type {import("./suites/index.mjs").Entry} */ (SUITES[name]).load();
    const failure = await orMissing(name, () => {
      const preparation = suite.prepare?.();
      const plan = isQuick ? suite.QUICK : suite.PLAN;
      prepared.push(() => timed(name, async () => suite.measure(plan, preparation)));
      return [];
    });
    measured.push(...failure);
  }
  step(`${names.join(", ")}: about ${formatDuration(secondsOf(names, isQuick))} in all`);
  for (const measureSuite of prepared) measured.push(...(await measureSuite()));
  return measured;
}

/** @param {string} name @param {() => Promise<Measured[]>} measureSuite */
async function timed(name, measureSuite) {
  const begin = performance.now();
  const measured = await orMissing(name, measureSuite);
  step(`${name} took ${formatDuration((performance.now() - begin) / 1000)}`);
  return measured;
}
