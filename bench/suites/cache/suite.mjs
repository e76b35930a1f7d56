// The image cache: hits, copies, opening and hit rates.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { attempt } from "../../../scripts/lib/run.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory, onDisk } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */

/** Mounts in a namespace of their own disappear with its last process, however that ends. */
const OWN_MOUNTS = ["unshare", "--mount"];

export const prepare = () => installPrograms("cache");

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  // Traces are replayed in memory, so that no disk slows them down.
  return onDisk((disk) =>
    inMemory((memory) => {
      const description = `images on a disk, Node ${process.versions.node}`;
      const command = [...ownMounts(), process.execPath];
      return runScript("cache", description, command, "run", [disk, memory, plan]);
    }),
  );
}

/** Returns nothing if the machine has no mount namespaces; mounting fails then as well. */
function ownMounts() {
  const [command = "", ...args] = OWN_MOUNTS;
  return attempt(command, [...args, "true"]).status === 0 ? OWN_MOUNTS : [];
}
