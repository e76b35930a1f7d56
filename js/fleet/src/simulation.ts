/** `@hedgerow/fleet/simulation`: a simulation of a fleet, to compare ways to place sandboxes. */
export type { SimulationOptions } from "./simulation/options.js";
export { POLICIES, type PolicyName } from "./simulation/policies/index.js";
export type { FlashResult, SimulationResult, StartTimes } from "./simulation/result.js";
export { simulate } from "./simulation/simulate.js";
export { readTrace, type TraceOptions } from "./simulation/trace.js";
export type { Workload, WorkloadHost, WorkloadImage } from "./simulation/workload.js";
export {
  makeWorkload,
  WORKLOADS,
  type WorkloadName,
  type WorkloadOptions,
} from "./simulation/workloads/workloads.js";
