// Restoring snapshots from a server, compared with other tools.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { StepError } from "../../../scripts/lib/run.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory } from "../../harness/temporary.mjs";

export { PLAN, QUICK } from "./plan.mjs";

/** @typedef {{ desyncError?: string }} Prepared why `desync` could not be installed */

/** @returns {Prepared} */
export function prepare() {
  installPrograms("restore");
  try {
    installGoTool("desync");
    return {};
  } catch (error) {
    if (error instanceof StepError) return { desyncError: error.message };
    throw error;
  }
}

/** @typedef {Prepared & { folder: string, plan: import("./plan.mjs").Plan }} Parameters */

/** @param {import("./plan.mjs").Plan} plan @param {Prepared} prepared */
export function measure(plan, prepared) {
  const description = `from a server, Node ${process.versions.node}`;
  return inMemory((folder) =>
    runScript("restore", description, process.execPath, "run", { ...prepared, folder, plan }),
  );
}
