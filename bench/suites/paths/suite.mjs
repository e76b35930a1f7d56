// The path suite: native, JavaScript on this Node and on Node 24, rates and memory.

import { node24 } from "../../../scripts/lib/paths.mjs";
import { step } from "../../../scripts/lib/run.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import { allParts } from "../../harness/missing.mjs";
import * as nativePlans from "../../harness/native-plan.mjs";
import { buildNative, javascript, native, program } from "../../harness/run.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */

export const prepare = () => buildNative("paths");

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  const nativePlan = isQuick ? nativePlans.QUICK : nativePlans.PLAN;
  const js = (/** @type {string} */ what, /** @type {string} */ node, script = "run") =>
    javascript("paths", what, node, script, [plan]);
  return allParts("paths", {
    native: () => native("paths", nativePlan),
    "this Node": () => js("Node", process.execPath),
    "Node 24": () => js("Node 24", node24),
    memory: buildMemory,
    "false positives": () => falsePositives(nativePlan),
    "false positives of bloom-filters": () =>
      js("false positives of bloom-filters, Node 24", node24, "false-positives"),
  });
}

/** @returns {Measured[]} */
function buildMemory() {
  step("paths: memory while filters are built");
  return [10_000, 100_000, 1_000_000, 10_000_000].flatMap((count) => {
    /** @type {{ file: number, peak: number }} */
    const { file, peak } = program("build_memory", `${count}`);
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

/** @param {import("../../harness/native-plan.mjs").Plan} plan @returns {Measured[]} */
function falsePositives({ divisor }) {
  step("paths: false positives, by thousands of millions of queries");
  /** @type {{ filter: string, rate: number, keys: number, measured: number, queries: number }[]} */
  const measurements = program("false_positives", `${divisor}`);
  return measurements.map(({ filter, rate, keys, measured, queries }) => ({
    suite: `paths-false-positives, ${filter}`,
    workload: `p = ${rate}, ${keys} paths`,
    method: "measured rate / p",
    unit: "×",
    ...summary([measured / rate]),
    details: { queries },
  }));
}
