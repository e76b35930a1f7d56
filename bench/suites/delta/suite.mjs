// Deltas: creating and restoring snapshots relative to others, compared with other tools.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { StepError } from "../../../scripts/lib/run.mjs";
import { ownMounts } from "../../harness/own-mounts.mjs";
import { runScript } from "../../harness/programs.mjs";
import { onDisk } from "../../harness/temporary.mjs";

export { PLAN, QUICK } from "./plan.mjs";

/** @typedef {{ desyncError?: string }} Prepared why `desync` could not be installed */

/** @returns {Prepared} */
export function prepare() {
  installPrograms("delta");
  installGoTool("versitygw");
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
  const description = `images on a disk, Node ${process.versions.node}`;
  const command = [...ownMounts(), process.execPath];
  return onDisk((folder) =>
    runScript("delta", description, command, "run", { ...prepared, folder, plan }),
  );
}
