import type { Counts, Timings } from "./counters.js";

/** How a cache is doing. */
export interface CacheStats extends Counts, Timings {
  /** How many images there are. */
  readonly entries: number;
  /** What everything in the directory takes on the disk, in bytes, what images that are being restored were promised included. */
  readonly bytes: number;
  /** How many bytes that may be, by whoever opened it here. */
  readonly maxBytes: number;
  /** How much that is more than it may be, in bytes, because all of it is in use. */
  readonly excessBytes: number;
  /** How many images this process uses. */
  readonly leases: number;
  /** What they take on the disk, in bytes. */
  readonly leasedBytes: number;
  /** What all processes have counted that ever had the cache open, those still at work up to some seconds ago. */
  readonly totals: Counts;
}

/** What verifying has found. */
export interface Verified {
  /** How many images are what was restored. */
  readonly good: number;
  /** The digests of those that were not, and are no more. */
  readonly damaged: readonly string[];
}

/** What has gone to make room. */
export interface Pruned {
  /** How many images. */
  readonly images: number;
  /** What they took on the disk, in bytes. */
  readonly bytes: number;
}
