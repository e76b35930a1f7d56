// Sandboxes that resume running: how soon a machine answers again, what a suspension and a checkpoint take, forks.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { makeGuest } from "../../../scripts/lib/set-up-tests.mjs";
import { runScript } from "../../harness/programs.mjs";
import { onDisk, ownMounts } from "../../harness/temporary.mjs";

export const PLAN = {
  memoryBytes: 2 ** 30,
  /** The memory that programs of the guest use, in MiB, and what changes before a checkpoint. */
  usedMiB: 400,
  changedMiB: 20,
  forks: 16,
  rounds: 9,
  /** Rounds of forks, of which each takes a minute. */
  forkRounds: 3,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = {
  ...PLAN,
  memoryBytes: 2 ** 28,
  ...{ usedMiB: 40, changedMiB: 4, forks: 2, rounds: 1, forkRounds: 1 },
};

/** Space for the disk of the benchmark, in bytes: of a sparse file. */
export const XFS_BYTES = 80 * 2 ** 30;

export function prepare() {
  installPrograms("running");
  installGoTool("versitygw");
  makeGuest();
}

/** @typedef {{ folder: string, plan: Plan }} Parameters */

/** @param {Plan} plan */
export const measure = (plan) =>
  onDisk((folder) =>
    runScript("running", "QEMU with TCG, images on XFS, Node 24", [...ownMounts(), node24], "run", {
      ...{ folder, plan },
    }),
  );
