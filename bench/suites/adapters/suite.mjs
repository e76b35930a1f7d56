// The adapters suite: each adapter beside the framework without it, on Node 24.

import { node24 } from "../../../scripts/lib/paths.mjs";
import { javascript } from "../../harness/run.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  return inTemporaryFolder((folder) =>
    javascript("adapters", "beside bare frameworks, Node 24", node24, "run", [folder, plan]),
  );
}
