// The start suite: the first use of packages in fresh processes of every Node, and in workerd.

import { inEngines } from "../../../scripts/lib/paths.mjs";
import { javascript } from "../../harness/run.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  const nodes = ["node20", "node22", "node24", "node26"].map((name) => [
    name,
    inEngines(name, "bin", "node"),
  ]);
  const engines = {
    nodes: Object.fromEntries(nodes),
    workerd: inEngines("workerd", "bin", "workerd"),
  };
  return inTemporaryFolder((folder) => {
    const args = [folder, plan, JSON.stringify(engines)];
    const what = "first uses on four versions of Node, and in workerd";
    return javascript("start", what, process.execPath, "run", args);
  });
}
