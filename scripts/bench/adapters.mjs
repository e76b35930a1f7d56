// The adapters suite: each adapter beside the framework without it, on Node 24.
import { PLAN, QUICK } from "../../bench/js/adapters/plan.mjs";
import { node24 } from "../lib/paths.mjs";
import { javascript } from "./harness.mjs";
import { inTemporaryFolder } from "./temporary.mjs";

/** @typedef {import("../bench.mjs").Measured} Measured */

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  return inTemporaryFolder((folder) =>
    javascript("adapters", "beside bare frameworks, Node 24", node24, "run", [folder, plan]),
  );
}
