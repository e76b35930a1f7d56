import { checkNoOthers, checkNumber } from "../check.js";

/** Options of `simulate`. */
export interface SimulationOptions {
  /** The seed of random choices. The same seed gives the same result. An integer of 32 bits. Default: 1. */
  readonly seed?: number | undefined;
  /** After how many milliseconds the placer knows what a cache holds. From 0 to 1e9. Default: 500. */
  readonly residencyDelay?: number | undefined;
  /** How many hosts may fetch an image from the origin at a time. From 1 to 65,536. Default: 3. */
  readonly fillSlots?: number | undefined;
  /** The limit of the cache of the shared tier. From 0 to 2^53 - 1. Default: that of the cache of a host. */
  readonly tierBytes?: number | undefined;
  /** The maximum bytes per second of a fill from the origin. From 1 to 1e15. Default: 200e6. */
  readonly originRate?: number | undefined;
  /** The maximum bytes per second of all fills of a host, and of one from the shared tier. From 1 to 1e15. Default: 1e9. */
  readonly hostRate?: number | undefined;
}

/** Milliseconds before the first byte of a fill. */
export const LATENCY = 30;

/** Options with their defaults. */
export type CheckedOptions = Required<{
  [Name in keyof SimulationOptions]: Exclude<SimulationOptions[Name], undefined>;
}>;

/** @throws {FleetError} `ERR_ARGUMENT` */
export function checkedOptions(options: SimulationOptions, cacheBytes: number): CheckedOptions {
  const { seed = 1, residencyDelay = 500, fillSlots = 3, ...rest } = options;
  const { tierBytes = cacheBytes, originRate = 200e6, hostRate = 1e9, ...others } = rest;
  checkNoOthers(others);
  checkNumber("seed", seed, -(2 ** 31), 2 ** 32 - 1);
  checkNumber("residencyDelay", residencyDelay, 0, 1e9);
  checkNumber("fillSlots", fillSlots, 1, 65_536);
  checkNumber("tierBytes", tierBytes, 0, Number.MAX_SAFE_INTEGER);
  checkNumber("originRate", originRate, 1, 1e15);
  checkNumber("hostRate", hostRate, 1, 1e15);
  return { seed, residencyDelay, fillSlots, tierBytes, originRate, hostRate };
}
