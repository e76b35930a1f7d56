import type { Workload, WorkloadHost } from "../workload.js";
import { popular } from "./popular.js";
import { spanOf } from "./starts.js";
import type { WorkloadOptions } from "./workloads.js";

/** The number of times that a host leaves and another one joins. */
const CHANGES = 10;

/** Hosts that leave, each replaced by a new one a minute later, at equal intervals. */
export function churn(options: WorkloadOptions): Omit<Workload, "name"> {
  const workload = popular(0.9, options);
  const span = spanOf(options.starts, options.hosts);
  const changes = Math.min(CHANGES, options.hosts - 1);
  const leavesAt = (index: number) => (span * (index + 1)) / (changes + 1);
  const hosts = workload.hosts.map((host, index): WorkloadHost => {
    return index < changes ? { ...host, leaves: leavesAt(index) } : host;
  });
  for (let index = 0; index < changes; index += 1) {
    const joins = leavesAt(index) + 60_000;
    hosts.push({ id: `host-${options.hosts + index}`, joins, leaves: Infinity });
  }
  return { ...workload, hosts };
}
