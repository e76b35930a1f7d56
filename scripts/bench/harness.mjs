// Running the benchmarks of a suite, and reading what they measured.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "../lib/paths.mjs";
import { capture, run, StepError, step } from "../lib/run.mjs";
import { summary } from "../lib/summary.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

const CRITERION = join(process.env.CARGO_TARGET_DIR ?? inRoot("target"), "criterion");

/**
 * Runs a suite's criterion benchmarks, and reads what they measured.
 *
 * @param {string} suite
 * @param {string} duration
 * @returns {Result[]}
 */
export function native(suite, duration) {
  step(`native, by criterion (${duration})`);
  for (const group of groups(suite)) rmSync(join(CRITERION, group), { recursive: true });
  run("cargo", ["bench", "--quiet", "-p", "hedgerow-bench", "--bench", suite]);
  const results = groups(suite).flatMap(resultsOf);
  if (results.length === 0) throw new StepError(`criterion left no results in ${CRITERION}`);
  return results;
}

/** @param {string} suite */
function groups(suite) {
  if (!existsSync(CRITERION)) return [];
  return readdirSync(CRITERION).filter((name) => name.startsWith(`${suite}-`));
}

/** The results of one criterion group: a folder for each method, and in it one for each workload. @param {string} group */
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
 * Runs a suite's JavaScript benchmarks.
 *
 * @param {string} suite
 * @param {string} engine
 * @param {string} node
 * @param {string} script
 * @param {string[]} args
 * @param {string} duration
 * @returns {Result[]}
 */
export function javascript(suite, engine, node, script, args = [], duration = "a minute or two") {
  step(`JavaScript, ${engine} (${duration})`);
  return JSON.parse(output(node, [inRoot("bench", "js", suite, `${script}.mjs`), ...args]));
}

/**
 * Runs a program of the native benchmarks, which prints JSON.
 *
 * @param {string} name
 * @param {string[]} args
 */
export function program(name, ...args) {
  const built = ["run", "--quiet", "--release", "-p", "hedgerow-bench", "--bin", name, "--"];
  return JSON.parse(output("cargo", [...built, ...args]));
}

/** @param {string} command @param {string[]} args */
function output(command, args) {
  const printed = capture(command, args, { showErrors: true });
  if (printed === undefined) throw new StepError(`failed: ${command} ${args.join(" ")}`);
  return printed;
}
