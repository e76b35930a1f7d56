// The image cache: hits, copies, opening and hit rates.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { attempt } from "../../../scripts/lib/run.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory, onDisk } from "../../harness/temporary.mjs";

export { PLAN, QUICK } from "./plan.mjs";

/** Mounts in a namespace of their own disappear with its last process, however that ends. */
const OWN_MOUNTS = ["unshare", "--mount"];

export const prepare = () => installPrograms("cache");

/**
 * Two folders, of which one is in memory, so that no disk slows traces down, and the plan.
 *
 * @typedef {{ disk: string, memory: string, plan: import("./plan.mjs").Plan }} Parameters
 */

/** @param {import("./plan.mjs").Plan} plan */
export function measure(plan) {
  const description = `images on a disk, Node ${process.versions.node}`;
  const command = [...ownMounts(), process.execPath];
  return onDisk((disk) =>
    inMemory((memory) => runScript("cache", description, command, "run", { disk, memory, plan })),
  );
}

/** Returns nothing if the machine has no mount namespaces; mounting fails then as well. */
function ownMounts() {
  const [command = "", ...args] = OWN_MOUNTS;
  return attempt(command, [...args, "true"]).status === 0 ? OWN_MOUNTS : [];
}
