// The restore suite: snapshots from a server, beside other tools that fetch images.

import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { StepError } from "../../../scripts/lib/run.mjs";
import { javascript } from "../../harness/run.mjs";
import { inMemory } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */

/** @typedef {{ refusal?: string }} Prepared why there is no `desync`, if there is none */

/** @returns {Prepared} */
export function prepare() {
  installPrograms("demo");
  try {
    installGoTool("desync");
    return {};
  } catch (error) {
    if (error instanceof StepError) return { refusal: error.message };
    throw error;
  }
}

/** @param {boolean} isQuick @param {Prepared} prepared @returns {Promise<Measured[]>} */
export function measure(isQuick, { refusal }) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  return inMemory((folder) => {
    const args = [folder, plan, ...(refusal === undefined ? [] : [refusal])];
    const what = `from a server, Node ${process.versions.node}`;
    return javascript("restore", what, process.execPath, "run", args);
  });
}
