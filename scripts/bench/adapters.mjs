// The adapters suite: each adapter beside the framework without it, on Node 24.
import { PLAN } from "../../bench/js/adapters/plan.mjs";
import { node24 } from "../lib/paths.mjs";
import { javascript } from "./harness.mjs";
import { inTemporaryFolder } from "./temporary.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

/** @param {import("../../bench/js/adapters/plan.mjs").Plan} [plan] @returns {Promise<Result[]>} */
export async function benchAdapters(plan = PLAN) {
  return inTemporaryFolder((folder) => {
    const args = [folder, JSON.stringify(plan)];
    return javascript("adapters", "Node 24", node24, "run", args, "a quarter of an hour");
  });
}
