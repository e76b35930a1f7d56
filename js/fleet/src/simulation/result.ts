import type { PolicyName } from "./policies/index.js";

/** A distribution of start times: 1 is the time of one cold start of the same image on an idle fleet. */
export interface StartTimes {
  /** The median. */
  readonly median: number;
  /** The longest one. */
  readonly worst: number;
}

/** Figures of a flash crowd on one image. */
export interface FlashResult {
  /** The number of starts of its image. */
  readonly starts: number;
  /** How often its image was fetched from the origin. */
  readonly originFetches: number;
  /** How long its starts took. */
  readonly startTimes: StartTimes;
}

/** The result of the simulation of one policy. */
export interface SimulationResult {
  /** The policy that was simulated. */
  readonly policy: PolicyName;
  /** The number of starts. */
  readonly starts: number;
  /** Starts whose image was in the cache of their host. */
  readonly hits: number;
  /** Starts that began a fill or waited for one. */
  readonly misses: number;
  /** `hits / starts`. */
  readonly hitRate: number;
  /**
   * The maximum over the mean of the running sandboxes of a host: the mean of this quotient over up to 1,000 instants at
   * equal intervals, without the first tenth of the time, during which the fleet fills.
   */
  readonly runningBalance: number;
  /** The maximum over the mean of all placements on a host, of the hosts that are there from the beginning to the end. */
  readonly placementBalance: number;
  /** Bytes that the origin sent. */
  readonly originBytes: number;
  /** How often images were fetched from the origin. */
  readonly originFetches: number;
  /** Bytes that the shared tier sent. */
  readonly tierBytes: number;
  /** How long starts took. */
  readonly startTimes: StartTimes;
  /**
   * The share of placements that change if one host is missing and all else is equal: of up to 4,000 decisions after the
   * first half of the starts, each with and without one host, all hosts in turn.
   */
  readonly moved: number;
  /** If the workload has a flash crowd. */
  readonly flash?: FlashResult | undefined;
}
