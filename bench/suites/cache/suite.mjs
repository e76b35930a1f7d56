// The image cache: hits, copies, opening and hit rates.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { ownMounts } from "../../harness/own-mounts.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory, onDisk } from "../../harness/temporary.mjs";

export { PLAN, QUICK } from "./plan.mjs";

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
