// Restoring snapshots from a server, compared with other tools.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { StepError } from "../../../scripts/lib/run.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */

/** @typedef {{ desyncError?: string }} Prepared why `desync` could not be installed */

/** @returns {Prepared} */
export function prepare() {
  installPrograms("demo");
  try {
    installGoTool("desync");
    return {};
  } catch (error) {
    if (error instanceof StepError) return { desyncError: error.message };
    throw error;
  }
}

/** @param {boolean} isQuick @param {Prepared} prepared @returns {Promise<Measured[]>} */
export function measure(isQuick, { desyncError }) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  return inMemory((folder) => {
    const args = [folder, plan, ...(desyncError === undefined ? [] : [desyncError])];
    const description = `from a server, Node ${process.versions.node}`;
    return runScript("restore", description, process.execPath, "run", args);
  });
}
