// Disks: using a snapshot before it has arrived, compared with restoring it first and with other NBD servers.
import { installDebianPackages, installPrograms } from "../../../scripts/lib/debian.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { capture } from "../../../scripts/lib/run.mjs";
import { makeGuest } from "../../../scripts/lib/set-up-tests.mjs";
import { ownMounts } from "../../harness/own-mounts.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory, onDisk } from "../../harness/temporary.mjs";

export { PLAN, QUICK } from "./plan.mjs";

/** Reads images over HTTP for QEMU; it has no program. */
const QEMU_CURL = "qemu-block-extra";

export function prepare() {
  installPrograms("disk");
  if (capture("dpkg", ["--status", QEMU_CURL]) === undefined) installDebianPackages([QEMU_CURL]);
  makeGuest();
}

/**
 * Two folders and the plan. Most images are in memory, so that no disk slows down what is compared. Those whose holes NBD
 * clients look for are on a disk, because tmpfs finds holes slowly.
 *
 * @typedef {{ memory: string, disk: string, plan: import("./plan.mjs").Plan }} Parameters
 */

/** @param {import("./plan.mjs").Plan} plan */
export function measure(plan) {
  const command = [...ownMounts(), node24];
  return onDisk((disk) =>
    inMemory((memory) =>
      runScript("disk", "images in memory, Node 24", command, "run", { memory, disk, plan }),
    ),
  );
}
