// Disks: using a snapshot before it has arrived, compared with restoring it first and with other NBD servers.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { makeGuest } from "../../../scripts/lib/set-up-tests.mjs";
import { ownMounts } from "../../harness/own-mounts.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory, onDisk } from "../../harness/temporary.mjs";

export { PLAN, QUICK } from "./plan.mjs";

export function prepare() {
  installPrograms("disk");
  makeGuest();
}

/**
 * Two folders, most images being in memory, so that no disk slows down what is compared, and the plan. Only on a disk are
 * holes found as fast as programs expect.
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
