// The restore suite: snapshots from a server, beside other tools that fetch images.
import { PLAN, QUICK } from "../../bench/js/restore/plan.mjs";
import { installPrograms } from "../lib/debian.mjs";
import { installGoTool } from "../lib/go.mjs";
import { StepError } from "../lib/run.mjs";
import { javascript } from "./harness.mjs";
import { inMemory } from "./temporary.mjs";

/** @typedef {import("../bench.mjs").Measured} Measured */

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
