// The cache suite: hits, copies, opening, and hit rates of the cache of images, beside others.

import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { attempt } from "../../../scripts/lib/run.mjs";
import { javascript } from "../../harness/run.mjs";
import { inMemory, onDisk } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */

/** What is mounted in a space of its own goes with the last process in it, however that ends. */
const OWN_MOUNTS = ["unshare", "--mount"];

export const prepare = () => installPrograms("cache");

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  // Traces are played in memory, so that no disk is waited for.
  return onDisk((disk) =>
    inMemory((memory) => {
      const what = `images on a disk, Node ${process.versions.node}`;
      const command = [...ownMounts(), process.execPath];
      return javascript("cache", what, command, "run", [disk, memory, plan]);
    }),
  );
}

/** Nothing where the machine does not allow it: then nothing can be mounted either. */
function ownMounts() {
  const [command = "", ...args] = OWN_MOUNTS;
  return attempt(command, [...args, "true"]).status === 0 ? OWN_MOUNTS : [];
}
