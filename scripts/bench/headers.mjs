// The header suite: native, and JavaScript on this Node, on Node 24 and in workerd.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { inRoot, node24 } from "../lib/paths.mjs";
import { capture, run, StepError, step } from "../lib/run.mjs";
import { summary } from "../lib/summary.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

const CRITERION = join(process.env.CARGO_TARGET_DIR ?? inRoot("target"), "criterion");
/** @returns {Promise<Result[]>} */
export async function benchHeaders() {
  return [
    ...native(),
    ...javascript("Node", process.execPath, "run"),
    ...javascript("Node 24", node24, "run"),
    ...javascript("workerd", process.execPath, "workerd"),
  ];
}

/** Runs the criterion suite, and reads what it measured. */
function native() {
  step("native, by criterion (four minutes)");
  for (const group of groups()) rmSync(join(CRITERION, group), { recursive: true });
  run("cargo", ["bench", "--quiet", "-p", "hedgerow-bench", "--bench", "headers"]);
  const results = groups().flatMap(resultsOf);
  if (results.length === 0) throw new StepError(`criterion left no results in ${CRITERION}`);
  return [...results, ...imageSizes()];
}

function groups() {
  if (!existsSync(CRITERION)) return [];
  return readdirSync(CRITERION).filter((name) => name.startsWith("headers-"));
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

/** @returns {Result[]} */
function imageSizes() {
  /** @type {{ rules: number, image_bytes: number }[]} */
  const sizes = JSON.parse(
    output("cargo", [
      "run",
      "--quiet",
      "--release",
      "-p",
      "hedgerow-bench",
      "--bin",
      "image_sizes",
    ]),
  );
  return sizes.map(({ rules, image_bytes: bytes }) => ({
    suite: "headers-growth-image",
    workload: `${rules} rules`,
    method: "hedgerow",
    unit: "bytes",
    ...summary([bytes]),
  }));
}

/**
 * @param {string} engine
 * @param {string} node
 * @param {"run" | "workerd"} script
 * @returns {Result[]}
 */
function javascript(engine, node, script) {
  step(`JavaScript, ${engine} (a minute or two)`);
  return JSON.parse(output(node, [inRoot("bench", "js", "headers", `${script}.mjs`)]));
}

/** @param {string} command @param {string[]} args */
function output(command, args) {
  const printed = capture(command, args, { showErrors: true });
  if (printed === undefined) throw new StepError(`failed: ${command} ${args.join(" ")}`);
  return printed;
}
