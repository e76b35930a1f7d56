// Runs the benchmarks of a suite in processes of their own and reads their results: criterion, native programs and
// scripts.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, sep } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { output, run, StepError, step } from "../../scripts/lib/run.mjs";
import { pooled, result } from "./results.mjs";

/** @import { Measured, Result } from "./results.mjs" */

/** Options of criterion: two short samples of each benchmark, with the fewest statistics that it accepts. */
export const CRITERION_QUICK = ["--quick", "--measurement-time=0.1", "--nresamples=1000"];

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
 * @param {string[]} options of criterion
 * @returns {Measured[]}
 */
export function runCriterion(suite, options) {
  step(`${suite}: native, by criterion`);
  for (const group of groups(suite)) rmSync(join(CRITERION, group), { recursive: true });
  const missing = /** @type {Measured[]} */ ([]);
  try {
    run("cargo", ["bench", ...PACKAGE, "--bench", suite, "--", ...options]);
  } catch (error) {
    missing.push({ suite: `${suite}, native`, why: String(error) });
  }
  const results = groups(suite).flatMap(groupResults);
  if (results.length + missing.length === 0) {
    throw new StepError(`criterion left no results in ${CRITERION}`);
  }
  return [...results, ...missing];
}

/** @param {string} suite */
function groups(suite) {
  if (!existsSync(CRITERION)) return [];
  return readdirSync(CRITERION).filter((name) => name.startsWith(`${suite}-`));
}

/**
 * Reads a criterion group: a folder for each method with a folder for each workload.
 *
 * @param {string} suite
 * @returns {Result[]}
 */
function groupResults(suite) {
  const files = readdirSync(join(CRITERION, suite), { recursive: true, encoding: "utf8" });
  return files.flatMap((file) => {
    const [method = "", workload = "", ...rest] = file.split(sep);
    if (rest.join("/") !== "new/sample.json") return [];
    const { times, iters } = JSON.parse(readFileSync(join(CRITERION, suite, file), "utf8"));
    const perIteration = times.map(
      (/** @type {number} */ time, /** @type {number} */ index) => time / iters[index],
    );
    return [result({ suite, workload, unit: "ns" }, method, perIteration)];
  });
}

/**
 * Runs `measure` of a script of a suite in processes of their own, one after the other, and returns the results, pooled:
 * engines optimise the same code differently in each process.
 *
 * @param {string} suite
 * @param {string} description printed before
 * @param {string | string[]} node the program, or a command that ends with it
 * @param {string} script
 * @param {unknown} parameters
 * @param {number} [processes] their number; default: 1
 * @returns {Measured[]}
 */
export function runScript(suite, description, node, script, parameters, processes = 1) {
  step(`${suite}: ${description}`);
  const [command = "", ...before] = [node].flat();
  const file = `bench/suites/${suite}/${script}.mjs`;
  const args = [inRoot("bench/harness/child.mjs"), inRoot(file), JSON.stringify(parameters)];
  const runs = Array.from({ length: processes }, () =>
    JSON.parse(output(command, [...before, ...args])),
  );
  return pooled(runs);
}

/** Runs a native program that prints JSON. It must have been built. @param {string} name @param {string[]} args */
export function runNative(name, ...args) {
  return JSON.parse(output(join(TARGET, "release", name), args));
}
