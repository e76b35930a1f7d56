// The start suite: the first use of packages in fresh processes of every Node, and in workerd.
import { PLAN } from "../../bench/js/start/plan.mjs";
import { inEngines } from "../lib/paths.mjs";
import { javascript } from "./harness.mjs";
import { inTemporaryFolder } from "./temporary.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

/** @param {import("../../bench/js/start/plan.mjs").Plan} [plan] @returns {Promise<Result[]>} */
export async function benchStart(plan = PLAN) {
  const nodes = ["node20", "node22", "node24", "node26"].map((name) => [
    name,
    inEngines(name, "bin", "node"),
  ]);
  const engines = {
    nodes: Object.fromEntries(nodes),
    workerd: inEngines("workerd", "bin", "workerd"),
  };
  return inTemporaryFolder((folder) => {
    const args = [folder, JSON.stringify(plan), JSON.stringify(engines)];
    const what = "four versions of Node, and workerd";
    return javascript("start", what, process.execPath, "run", args, "four minutes");
  });
}
