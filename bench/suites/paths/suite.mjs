// Path filters: native, JavaScript on the current Node and on Node 24, false positives, and memory.
import { node24 } from "../../../scripts/lib/paths.mjs";
import { step } from "../../../scripts/lib/run.mjs";
import {
  buildNative,
  CRITERION_QUICK,
  runCriterion,
  runNative,
  runScript,
} from "../../harness/programs.mjs";
import { measureParts, result } from "../../harness/results.mjs";

export const PLAN = {
  criterion: /** @type {string[]} */ ([]),
  /** Divides the number of queries of the native false positives. */
  divisor: 1,
  /** The expected number of false positives per filter of `bloom-filters` that keeps its rate. */
  falsePositives: 200,
  /** Rounds of methods that load in microseconds, and of methods that parse JSON. */
  light: 40,
  heavy: 25,
  /** Rounds of checks, also by slow methods. */
  asking: 60,
  askingRivals: 10,
  builds: 5,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = {
  criterion: CRITERION_QUICK,
  divisor: 20,
  falsePositives: 10,
  light: 4,
  heavy: 1,
  asking: 4,
  askingRivals: 1,
  builds: 1,
};

export const prepare = () => buildNative("paths");

/** @param {Plan} plan */
export function measure(plan) {
  const rival = "false positives of bloom-filters";
  return measureParts("paths", {
    native: () => runCriterion("paths", plan.criterion),
    "this Node": () => runScript("paths", "Node", process.execPath, "run", plan),
    "Node 24": () => runScript("paths", "Node 24", node24, "run", plan),
    memory: buildMemory,
    "false positives": () => falsePositives(plan),
    [rival]: () => runScript("paths", `${rival}, Node 24`, node24, "false-positives", plan),
  });
}

function buildMemory() {
  step("paths: memory of building filters");
  return [10_000, 100_000, 1_000_000, 10_000_000].flatMap((count) => {
    /** @type {{ file: number, peak: number }} */
    const { file, peak } = runNative("build_memory", `${count}`);
    const about = { suite: "paths-memory", workload: `${count} paths`, unit: "bytes" };
    return [
      result(about, "file, bytes a path", [file / count]),
      result(about, "peak, bytes a path", [peak / count]),
    ];
  });
}

/** @param {Plan} plan */
function falsePositives({ divisor }) {
  step("paths: false positives, by billions of queries");
  /** @type {{ filter: string, rate: number, keys: number, measured: number, queries: number }[]} */
  const measurements = runNative("false_positives", `${divisor}`);
  return measurements.map(({ filter, rate, keys, measured, queries }) => {
    const workload = `p = ${rate}, ${keys} paths`;
    const about = { suite: `paths-false-positives, ${filter}`, workload, unit: "×" };
    return result(about, "measured rate / p", [measured / rate], { queries });
  });
}
