import type { Counts, Timings } from "./counters.js";

/** The state of a cache, and the counters of this process. */
export interface CacheStats extends Counts, Timings {
  /** The number of images in the cache. */
  readonly entries: number;
  /** The disk usage of the directory, in bytes, including space reserved for images that are being restored. */
  readonly bytes: number;
  /** The limit with which this process opened the cache, in bytes. */
  readonly maxBytes: number;
  /** How far the cache is above its limit, in bytes, because images in use cannot be evicted. */
  readonly excessBytes: number;
  /** The number of images that this process uses. */
  readonly leases: number;
  /** The disk usage of the images that this process uses, in bytes. */
  readonly leasedBytes: number;
  /** The counters of all processes that ever opened the cache. Those of running processes lag by some seconds. */
  readonly totals: Counts;
}

/** The result of verifying a cache. */
export interface Verified {
  /** The number of intact images. */
  readonly good: number;
  /** The digests of the damaged images, which were removed. */
  readonly damaged: readonly string[];
}

/** What was evicted. */
export interface Pruned {
  /** The number of images. */
  readonly images: number;
  /** Their disk usage, in bytes. */
  readonly bytes: number;
}
