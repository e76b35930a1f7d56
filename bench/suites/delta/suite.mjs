// Deltas: creating and restoring snapshots relative to others, compared with other tools.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { StepError } from "../../../scripts/lib/run.mjs";
import { runScript } from "../../harness/programs.mjs";
import { onDisk, ownMounts } from "../../harness/temporary.mjs";

export const PLAN = {
  /** Of the image, with the minimum of files in it. */
  imageBytes: 2 ** 32,
  dataBytes: 1.2e9,
  /** Rounds of methods that take less than a second, and of all methods at `MAIN`. */
  rounds: 3,
  /** Rounds of the others. */
  slowRounds: 1,
  /** Seconds after which `zstd --patch-from` is stopped. */
  patchSeconds: 120,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = { ...PLAN, imageBytes: 2 ** 29, dataBytes: 0.06e9, rounds: 1 };

/** A kind of change: its name, and the share of the data, or the number of writes and the bytes of each. */
export const SHARES = [
  { name: "0.01 %", share: 0.0001 },
  { name: "0.1 %", share: 0.001 },
  { name: "1 %", share: 0.01 },
  { name: "10 %", share: 0.1 },
  { name: "100 %", share: 1 },
];

/** The change that all methods are compared at, in all rounds. */
export const MAIN = "1 %";

/** Writes at random places, of which a quick run has as many. */
export const SCATTERED = [
  { name: "300 writes of 64 KiB", count: 300, bytes: 2 ** 16 },
  { name: "5,000 writes of 4 KiB", count: 5000, bytes: 2 ** 12 },
];

/** The number of deltas in a chain: with the first snapshot, the last one reads as many objects as it may, and itself. */
export const CHAIN = 8;

/** The size of the XFS disk, a sparse file, in bytes. */
export const XFS_BYTES = 2 ** 34;

/** A limit under which nothing is evicted. */
export const NO_EVICTION = 2 ** 40;

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

/** @typedef {Prepared & { folder: string, plan: Plan }} Parameters */

/** @param {Plan} plan @param {Prepared} prepared */
export function measure(plan, prepared) {
  const description = `images on a disk, Node ${process.versions.node}`;
  const command = [...ownMounts(), process.execPath];
  return onDisk((folder) =>
    runScript("delta", description, command, "run", { ...prepared, folder, plan }),
  );
}
