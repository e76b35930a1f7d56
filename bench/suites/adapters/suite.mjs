// Each adapter compared with its framework alone, on Node 24.

import { node24 } from "../../../scripts/lib/paths.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  return inTemporaryFolder((folder) =>
    runScript("adapters", "frameworks with and without an adapter, Node 24", node24, "run", [
      folder,
      plan,
    ]),
  );
}
