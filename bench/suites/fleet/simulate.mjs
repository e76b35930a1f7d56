// Simulates fleets: every policy under every workload. All figures but the last come from the seed, not from the machine.
import { makeWorkload, POLICIES, simulate, WORKLOADS } from "@hedgerow/fleet/simulation";

import { log } from "../../harness/progress.mjs";
import { NODE, result } from "../../harness/results.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { SimulationResult } from "@hedgerow/fleet/simulation" */

/**
 * A fleet, the number of starts on it, and their workloads.
 *
 * @typedef {{ hosts: number, starts: number, workloads: readonly import("@hedgerow/fleet/simulation").WorkloadName[] }} FleetSize
 */

/** @typedef {{ fleets: FleetSize[] }} SimulationPlan */

const SUITE = `fleet-${NODE}`;

/** @type {SimulationPlan} */
export const PLAN = {
  fleets: [
    { hosts: 64, starts: 100_000, workloads: WORKLOADS },
    { hosts: 1_000, starts: 1_000_000, workloads: ["zipf-0.9", "flash-crowd"] },
  ],
};

/** @type {SimulationPlan} */
export const QUICK = { fleets: [{ hosts: 64, starts: 2_000, workloads: WORKLOADS }] };

/** The figures of a result. @type {[quantity: string, unit: string, (result: SimulationResult) => number][]} */
const FIGURES = [
  ["hit rate", "%", ({ hitRate }) => 100 * hitRate],
  ["maximum over mean load", "×", ({ runningBalance }) => runningBalance],
  ["bytes from the origin", "GB", ({ originBytes }) => originBytes / 1e9],
  ["placements moved without one host", "%", ({ moved }) => 100 * moved],
];

/** The figures of a flash crowd. @type {typeof FIGURES} */
const FLASH_FIGURES = [
  ["fetches of one image by a flash crowd", "fetches", ({ flash }) => flash?.originFetches ?? NaN],
  ["worst start of a flash crowd", "×", ({ flash }) => flash?.startTimes.worst ?? NaN],
];

/** @param {SimulationPlan} plan @returns {Measured[]} */
export function simulateFleets({ fleets }) {
  return fleets.flatMap((fleet) => fleet.workloads.flatMap((name) => simulateFleet(name, fleet)));
}

/** @param {typeof WORKLOADS[number]} name @param {FleetSize} fleet */
function simulateFleet(name, { hosts, starts }) {
  log(`simulation of ${hosts} hosts: ${name}`);
  const workload = makeWorkload(name, { hosts, starts });
  const figures = workload.flash === undefined ? FIGURES : [...FIGURES, ...FLASH_FIGURES];
  const about = { workload: `${name}, ${hosts} hosts` };
  return POLICIES.flatMap((policy) => {
    const begun = performance.now();
    const simulated = simulate(workload, policy);
    const seconds = (performance.now() - begun) / 1000;
    const duration = { ...about, suite: `${SUITE}, time to simulate`, unit: "s" };
    return [
      ...figures.map(([quantity, unit, figure]) =>
        result({ ...about, suite: `${SUITE}, ${quantity}`, unit }, policy, [figure(simulated)], {
          starts,
        }),
      ),
      result(duration, policy, [seconds], { starts }),
    ];
  });
}
