/** `@hedgerow/fleet/simulation`: a simulation of a fleet, to compare ways to place sandboxes. */
export type { SimulationOptions } from "./options.js";
export { POLICIES, type PolicyName } from "./policies/index.js";
export type { FlashResult, SimulationResult, StartTimes } from "./result.js";
export { simulate } from "./simulate.js";
export { readTrace, type TraceOptions } from "./trace.js";
export type { Workload, WorkloadHost, WorkloadImage } from "./workload.js";
export {
  makeWorkload,
  WORKLOADS,
  type WorkloadName,
  type WorkloadOptions,
} from "./workloads/workloads.js";
