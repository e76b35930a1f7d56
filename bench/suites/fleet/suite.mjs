// Fleets: where sandboxes start, compared with other policies; and many hosts that fetch the same snapshot.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { runScript } from "../../harness/programs.mjs";
import { onDisk } from "../../harness/temporary.mjs";
import { QUICK as QUICK_SIMULATION, PLAN as SIMULATION } from "./simulate.mjs";
import { TIER_PLAN, TIER_QUICK } from "./tier.mjs";

export const PLAN = {
  simulation: SIMULATION,
  tier: TIER_PLAN,
  /** Rounds of 10,000 decisions, hosts of a fleet that is watched, and the images of each. */
  ...{ rounds: 9, hosts: 1_000, images: 1_000 },
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = {
  simulation: QUICK_SIMULATION,
  tier: TIER_QUICK,
  ...{ rounds: 1, hosts: 100, images: 100 },
};

export function prepare() {
  installPrograms("fleet");
  installGoTool("versitygw");
}

/** @param {Plan} plan */
export const measure = (plan) =>
  onDisk((folder) => runScript("fleet", "Node 24", node24, "run", { folder, plan }));
