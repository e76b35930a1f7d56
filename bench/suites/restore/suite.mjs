// Restoring snapshots from a server, compared with other tools.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { StepError } from "../../../scripts/lib/run.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory } from "../../harness/temporary.mjs";

export const PLAN = {
  /** Of the image of the comparisons, with the minimum of files in it. */
  imageBytes: 2 ** 32,
  dataBytes: 1.45e9,
  rounds: 3,
  warmUps: 1,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = { imageBytes: 2 ** 29, dataBytes: 0.06e9, rounds: 1, warmUps: 0 };

/** The number of workers, unless a comparison sets it. */
export const WORKERS = 2;

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

/** @typedef {Prepared & { folder: string, plan: Plan }} Parameters */

/** @param {Plan} plan @param {Prepared} prepared */
export function measure(plan, prepared) {
  const description = `from a server, Node ${process.versions.node}`;
  return inMemory((folder) =>
    runScript("restore", description, process.execPath, "run", { ...prepared, folder, plan }),
  );
}
