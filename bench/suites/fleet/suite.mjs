// Fleets: where sandboxes start, compared with other policies; and many hosts that fetch the same snapshot.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { runScript } from "../../harness/programs.mjs";
import { onDisk } from "../../harness/temporary.mjs";
import { TIER_PLAN, TIER_QUICK } from "./tier.mjs";

/**
 * A fleet that is simulated, the number of starts on it, and their workloads. Default: all of them.
 *
 * @typedef {{ hosts: number, starts: number, workloads?: import("./simulator/workloads.ts").WorkloadName[] }} FleetSize
 */

/**
 * `rounds` of 10,000 decisions; the number of `hosts` of a fleet that is watched, and of the `images` of each.
 *
 * @typedef {{ simulation: FleetSize[], tier: typeof TIER_PLAN, rounds: number, hosts: number, images: number }} Plan
 */

/** @type {Plan} */
export const PLAN = {
  simulation: [
    { hosts: 64, starts: 100_000 },
    { hosts: 1_000, starts: 1_000_000, workloads: ["zipf-0.9", "flash-crowd"] },
  ],
  tier: TIER_PLAN,
  rounds: 9,
  hosts: 1_000,
  images: 1_000,
};

/** @type {Plan} */
export const QUICK = {
  simulation: [{ hosts: 64, starts: 2_000 }],
  tier: TIER_QUICK,
  rounds: 1,
  hosts: 100,
  images: 100,
};

export function prepare() {
  installPrograms("fleet");
  installGoTool("versitygw");
}

/** @param {Plan} plan */
export const measure = (plan) =>
  onDisk((folder) => runScript("fleet", "Node 24", node24, "run", { folder, plan }));
