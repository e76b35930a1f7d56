// Simulates fleets: every policy under every workload. All figures but the last come from the seed, not from the machine.
import { NODE, result } from "../../harness/results.mjs";
import { log } from "../../harness/turns.mjs";
import { POLICIES } from "./simulator/policies.ts";
import { simulate } from "./simulator/simulation.ts";
import { WORKLOADS } from "./simulator/workloads.ts";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { FleetSize } from "./suite.mjs" */
/** @import { Simulated } from "./simulator/simulation.ts" */
/** @import { PolicyName } from "./simulator/policies.ts" */
/** @import { WorkloadName } from "./simulator/workloads.ts" */

const SUITE = `fleet-${NODE}`;

/** The figures of a simulation. @type {[quantity: string, unit: string, (simulated: Simulated) => number][]} */
const FIGURES = [
  ["hit rate", "%", ({ hitRate }) => 100 * hitRate],
  ["maximum over mean load", "×", ({ balance }) => balance],
  ["bytes from the origin", "GB", ({ originBytes }) => originBytes / 1e9],
  ["placements moved without one host", "%", ({ moved }) => 100 * moved],
];

/** The figures of a flash crowd. @type {typeof FIGURES} */
const FLASH_FIGURES = [
  ["fetches of one image by a flash crowd", "fetches", ({ crowdFetches }) => crowdFetches],
  ["worst start of a flash crowd", "×", ({ slowestOfCrowd }) => slowestOfCrowd],
];

/** @param {FleetSize[]} fleets @returns {Measured[]} */
export function simulateFleets(fleets) {
  return fleets.flatMap((fleet) => {
    const names = fleet.workloads ?? /** @type {WorkloadName[]} */ (Object.keys(WORKLOADS));
    return names.flatMap((name) => simulateFleet(name, fleet));
  });
}

/** @param {WorkloadName} name @param {FleetSize} fleet */
function simulateFleet(name, { hosts, starts }) {
  log(`simulation of ${hosts} hosts: ${name}`);
  const workload = WORKLOADS[name]({ hosts, starts });
  const figures = workload.flash === undefined ? FIGURES : [...FIGURES, ...FLASH_FIGURES];
  const about = { workload: `${name}, ${hosts} hosts` };
  return /** @type {PolicyName[]} */ (Object.keys(POLICIES)).flatMap((policy) => {
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
