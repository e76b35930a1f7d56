import { checkNoOthers, checkNumber, invalid } from "../../check.js";
import { MAX_STARTS } from "../check-workload.js";
import type { Workload } from "../workload.js";
import { bases } from "./bases.js";
import { churn } from "./churn.js";
import { deploy } from "./deploy.js";
import { diurnal } from "./diurnal.js";
import { flashCrowd } from "./flash-crowd.js";
import { popular } from "./popular.js";
import { MAX_MADE_HOSTS } from "./starts.js";

/** The size and the seed of a workload. */
export interface WorkloadOptions {
  /** The number of hosts. From 1 to 10,000. */
  readonly hosts: number;
  /** The number of starts. From 1 to 10,000,000. */
  readonly starts: number;
  /** The seed of random choices. */
  readonly seed: number;
}

/** The name of a workload. */
export type WorkloadName =
  | "zipf-0.7"
  | "zipf-0.9"
  | "zipf-1.1"
  | "bases"
  | "flash-crowd"
  | "deploy"
  | "churn"
  | "diurnal";

const MAKERS: Readonly<Record<WorkloadName, (options: WorkloadOptions) => Omit<Workload, "name">>> =
  {
    "zipf-0.7": (options) => popular(0.7, options),
    "zipf-0.9": (options) => popular(0.9, options),
    "zipf-1.1": (options) => popular(1.1, options),
    bases,
    "flash-crowd": flashCrowd,
    deploy,
    churn,
    diurnal,
  };

/** The names of all workloads. */
export const WORKLOADS = Object.keys(MAKERS) as readonly WorkloadName[];

/**
 * Makes a workload. Except in `bases`, there are 1,000 images of log-normal sizes, and a cache holds a fifth of their
 * bytes; 20 sandboxes run on a host on average.
 *
 * @throws {FleetError} `ERR_ARGUMENT`
 */
export function makeWorkload(
  name: WorkloadName,
  {
    hosts,
    starts,
    seed = 1,
    ...others
  }: Omit<WorkloadOptions, "seed"> & { readonly seed?: number },
): Workload {
  if (!Object.hasOwn(MAKERS, name)) throw invalid("workload", WORKLOADS.join(", "), String(name));
  checkNoOthers(others);
  checkNumber("hosts", hosts, 1, MAX_MADE_HOSTS);
  checkNumber("starts", starts, 1, MAX_STARTS);
  checkNumber("seed", seed, -(2 ** 31), 2 ** 32 - 1);
  return { name, ...MAKERS[name]({ hosts, starts, seed }) };
}
