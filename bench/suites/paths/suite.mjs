// Path filters: native, JavaScript on the current Node and on Node 24, false positives and memory.
import { node24 } from "../../../scripts/lib/paths.mjs";
import { step } from "../../../scripts/lib/run.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import {
  buildNative,
  nativePlan,
  runCriterion,
  runNative,
  runScript,
} from "../../harness/programs.mjs";
import { measureParts } from "../../harness/results.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */

export const prepare = () => buildNative("paths");

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  const native = nativePlan(isQuick);
  const inNode = (/** @type {string} */ description, /** @type {string} */ node, script = "run") =>
    runScript("paths", description, node, script, [plan]);
  return measureParts("paths", {
    native: () => runCriterion("paths", native),
    "this Node": () => inNode("Node", process.execPath),
    "Node 24": () => inNode("Node 24", node24),
    memory: buildMemory,
    "false positives": () => falsePositives(native),
    "false positives of bloom-filters": () =>
      inNode("false positives of bloom-filters, Node 24", node24, "false-positives"),
  });
}

/** @returns {Measured[]} */
function buildMemory() {
  step("paths: memory of building filters");
  return [10_000, 100_000, 1_000_000, 10_000_000].flatMap((count) => {
    /** @type {{ file: number, peak: number }} */
    const { file, peak } = runNative("build_memory", `${count}`);
    return Object.entries({ "file, bytes a path": file, "peak, bytes a path": peak }).map(
      ([method, bytes]) => ({
        suite: "paths-memory",
        workload: `${count} paths`,
        method,
        unit: "bytes",
        ...summary([bytes / count]),
      }),
    );
  });
}

/** @param {import("../../harness/programs.mjs").NativePlan} plan @returns {Measured[]} */
function falsePositives({ divisor }) {
  step("paths: false positives, by billions of queries");
  /** @type {{ filter: string, rate: number, keys: number, measured: number, queries: number }[]} */
  const measurements = runNative("false_positives", `${divisor}`);
  return measurements.map(({ filter, rate, keys, measured, queries }) => ({
    suite: `paths-false-positives, ${filter}`,
    workload: `p = ${rate}, ${keys} paths`,
    method: "measured rate / p",
    unit: "×",
    ...summary([measured / rate]),
    details: { queries },
  }));
}
