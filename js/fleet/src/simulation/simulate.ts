import { invalid } from "../check.js";
import { checkWorkload } from "./check-workload.js";
import { checkedOptions, type SimulationOptions } from "./options.js";
import { MAKERS, type PolicyName } from "./policies/index.js";
import type { SimulationResult } from "./result.js";
import { Simulation } from "./simulation.js";
import type { Workload } from "./workload.js";

/**
 * Simulates a fleet under one policy: hosts whose caches evict as `ImageCache` does, fills that take time, and a placer
 * that knows of the caches with a delay. The same arguments give the same result.
 *
 * @throws {FleetError} `ERR_ARGUMENT`, `ERR_NO_HOST` if all hosts have left
 * @example
 * const workload = makeWorkload("zipf-0.9", { hosts: 64, starts: 100_000 });
 * const { hitRate, runningBalance } = simulate(workload, "hedgerow");
 */
export function simulate(
  workload: Workload,
  policy: PolicyName,
  options: SimulationOptions = {},
): SimulationResult {
  if (!Object.hasOwn(MAKERS, policy)) {
    throw invalid("policy", Object.keys(MAKERS).join(", "), String(policy));
  }
  checkWorkload(workload);
  return new Simulation(workload, policy, checkedOptions(options, workload.cacheBytes)).run();
}
