// Measures fleets.
import { chmodSync } from "node:fs";
import { join } from "node:path";

import { measureParts, NODE, result } from "../../harness/results.mjs";
import { measureDecisions } from "./decide.mjs";
import { measureResidency } from "./residency.mjs";
import { simulateFleets } from "./simulate.mjs";
import { measureTier } from "./tier.mjs";

const SUITE = `fleet-${NODE}`;

/** @param {{ folder: string, plan: import("./suite.mjs").Plan }} parameters */
export async function measure({ folder, plan }) {
  // The workers of nginx run as another user.
  chmodSync(folder, 0o711);
  return measureParts(SUITE, {
    decisions: () => measureDecisions(plan.rounds),
    residency: () => residency(plan),
    simulation: () => simulateFleets(plan.simulation),
    tier: () => measureTier(join(folder, "tier"), plan.tier),
  });
}

/** Measures a placer that reads a fleet whose hosts have the same images, and one whose hosts have different ones. */
async function residency(/** @type {import("./suite.mjs").Plan} */ { hosts, images }) {
  const measured = [];
  for (const shared of [true, false]) {
    const { duration, memory, peak } = await measureResidency({ hosts, images, shared });
    const workload = shared ? "the same images" : "different images";
    measured.push(
      result({ suite: `${SUITE}, resync`, workload, unit: "s" }, "hedgerow", [duration / 1000]),
      result({ suite: `${SUITE}, memory`, workload, unit: "MB" }, "hedgerow", [memory / 1e6]),
      result({ suite: `${SUITE}, process`, workload, unit: "MB" }, "hedgerow", [peak / 1e6]),
    );
  }
  return measured;
}
