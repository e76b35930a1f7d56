// Running the benchmarks of a suite, and reading what they measured.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { capture, run, StepError, step } from "../../scripts/lib/run.mjs";
import { summary } from "../../scripts/lib/summary.mjs";

/** @typedef {import("../../scripts/bench.mjs").Measured} Measured */
/** @typedef {import("../../scripts/bench.mjs").Result} Result */

const TARGET = process.env.CARGO_TARGET_DIR ?? inRoot("target");
const CRITERION = join(TARGET, "criterion");
const PACKAGE = ["--quiet", "-p", "hedgerow-bench"];

/** Builds the native benchmarks of a suite, and the programs beside them. @param {string} suite */
export function buildNative(suite) {
  step(`native benchmarks of ${suite}`);
  run("cargo", ["bench", "--no-run", ...PACKAGE, "--bench", suite]);
  run("cargo", ["build", "--release", ...PACKAGE, "--bins"]);
}

/**
 * Runs a suite's criterion benchmarks, and reads what they measured before they ended.
 *
 * @param {string} suite
 * @param {import("./native-plan.mjs").Plan} plan
 * @returns {Measured[]}
 */
export function native(suite, { criterion }) {
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

/** The results of one criterion group: a folder for each method, and in it one for each workload. @param {string} group @returns {Result[]} */
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

/** @param {string} file @returns {number[]} nanoseconds an iteration */
function samplesOf(file) {
  const { times, iters } = JSON.parse(readFileSync(file, "utf8"));
  return times.map(
    (/** @type {number} */ time, /** @type {number} */ index) => time / iters[index],
  );
}

/**
 * Runs a script of a suite, which prints a JSON array.
 *
 * @param {string} suite
 * @param {string} what for people
 * @param {string | string[]} node the program, or what it is run by, and it
 * @param {string} script
 * @param {string[]} args
 * @returns {Measured[]}
 */
export function javascript(suite, what, node, script, args) {
  step(`${suite}: ${what}`);
  const [command = "", ...before] = [node].flat();
  const file = `bench/suites/${suite}/${script}.mjs`;
  return JSON.parse(output(file, command, [...before, inRoot(file), ...args]));
}

/**
 * Runs a program of the native benchmarks, which is built and prints JSON.
 *
 * @param {string} name
 * @param {string[]} args
 */
export function program(name, ...args) {
  return JSON.parse(output(name, join(TARGET, "release", name), args));
}

/** @param {string} name for people @param {string} command @param {string[]} args */
function output(name, command, args) {
  const printed = capture(command, args, { showErrors: true });
  if (printed === undefined) throw new StepError(`${name} failed: see above`);
  return printed;
}
