// Runs the benchmarks of a suite in processes of their own and reads their results: criterion, native programs and
// scripts.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { output, run, StepError, step } from "../../scripts/lib/run.mjs";
import { summary } from "../../scripts/lib/summary.mjs";

/** @typedef {import("./results.mjs").Measured} Measured */
/** @typedef {import("./results.mjs").Result} Result */

/** How thoroughly native benchmarks measure: options of criterion, and a divisor of the number of queries for false positives. @typedef {{ criterion: string[], divisor: number }} NativePlan */

/** @type {NativePlan} */
const NATIVE = { criterion: [], divisor: 1 };

/** Two short samples of each benchmark, with the minimum of statistics that criterion accepts. @type {NativePlan} */
const NATIVE_QUICK = {
  criterion: ["--quick", "--measurement-time=0.1", "--nresamples=1000"],
  divisor: 20,
};

/** @param {boolean} isQuick */
export const nativePlan = (isQuick) => (isQuick ? NATIVE_QUICK : NATIVE);

const TARGET = process.env.CARGO_TARGET_DIR ?? inRoot("target");
const CRITERION = join(TARGET, "criterion");
const PACKAGE = ["--quiet", "-p", "hedgerow-bench"];

/** Builds the native benchmarks of a suite and the native programs. @param {string} suite */
export function buildNative(suite) {
  step(`native benchmarks of ${suite}`);
  run("cargo", ["bench", "--no-run", ...PACKAGE, "--bench", suite]);
  run("cargo", ["build", "--release", ...PACKAGE, "--bins"]);
}

/**
 * Runs the criterion benchmarks of a suite. If they fail, returns the results until then and what is missing.
 *
 * @param {string} suite
 * @param {NativePlan} plan
 * @returns {Measured[]}
 */
export function runCriterion(suite, { criterion }) {
  step(`${suite}: native, by criterion`);
  for (const group of groups(suite)) rmSync(join(CRITERION, group), { recursive: true });
  const args = ["bench", ...PACKAGE, "--bench", suite, "--", ...criterion];
  try {
    run("cargo", args);
  } catch (error) {
    return [...groups(suite).flatMap(resultsOf), { suite: `${suite}, native`, why: String(error) }];
  }
  const results = groups(suite).flatMap(resultsOf);
  if (results.length === 0) throw new StepError(`criterion left no results in ${CRITERION}`);
  return results;
}

/** @param {string} suite */
function groups(suite) {
  if (!existsSync(CRITERION)) return [];
  return readdirSync(CRITERION).filter((name) => name.startsWith(`${suite}-`));
}

/** Reads a criterion group: a folder for each method with a folder for each workload. @param {string} group @returns {Result[]} */
function resultsOf(group) {
  return readdirSync(join(CRITERION, group))
    .filter((method) => method !== "report")
    .flatMap((method) => {
      const folder = join(CRITERION, group, method);
      return readdirSync(folder)
        .filter((workload) => existsSync(join(folder, workload, "new", "sample.json")))
        .map((workload) => ({
          suite: group,
          workload,
          method,
          unit: "ns",
          ...summary(samplesOf(join(folder, workload, "new", "sample.json"))),
        }));
    });
}

/** @param {string} file @returns {number[]} nanoseconds per iteration */
function samplesOf(file) {
  const { times, iters } = JSON.parse(readFileSync(file, "utf8"));
  return times.map(
    (/** @type {number} */ time, /** @type {number} */ index) => time / iters[index],
  );
}

/**
 * Runs a script of a suite, which prints its results as a JSON array.
 *
 * @param {string} suite
 * @param {string} description printed before
 * @param {string | string[]} node the program, or a command that ends with it
 * @param {string} script
 * @param {string[]} args
 * @returns {Measured[]}
 */
export function runScript(suite, description, node, script, args) {
  step(`${suite}: ${description}`);
  const [command = "", ...before] = [node].flat();
  const file = `bench/suites/${suite}/${script}.mjs`;
  return JSON.parse(output(command, [...before, inRoot(file), ...args]));
}

/**
 * Runs a native program that prints JSON. It must have been built.
 *
 * @param {string} name
 * @param {string[]} args
 */
export function runNative(name, ...args) {
  return JSON.parse(output(join(TARGET, "release", name), args));
}
