import type { Meter } from "@opentelemetry/api";

import type { ImageCache } from "../cache/image-cache.js";
import type { CacheStats } from "../cache/statistics.js";
import { check, checkMeter, type Metric, observe } from "./observe.js";

/** The counters of this process. */
const COUNTERS: readonly Metric<CacheStats>[] = [
  {
    name: "hedgerow.cache.hits",
    unit: "{hit}",
    description: "Images that were in the cache when requested",
    of: ({ hits }) => hits,
  },
  {
    name: "hedgerow.cache.misses",
    unit: "{miss}",
    description: "Images that had to be restored or waited for",
    of: ({ misses }) => misses,
  },
  {
    name: "hedgerow.cache.fills",
    unit: "{fill}",
    description: "Images restored into the cache",
    of: ({ fills }) => fills,
  },
  {
    name: "hedgerow.cache.failures",
    unit: "{failure}",
    description: "Restores into the cache that failed or were cancelled",
    of: ({ failures }) => failures,
  },
  {
    name: "hedgerow.cache.evictions",
    unit: "{eviction}",
    description: "Images evicted to free space",
    of: ({ evictions }) => evictions,
  },
  {
    name: "hedgerow.cache.damaged",
    unit: "{image}",
    description: "Images removed because they were damaged",
    of: ({ damaged }) => damaged,
  },
  {
    name: "hedgerow.cache.wait.time",
    unit: "s",
    description: "Time spent waiting for other processes",
    of: ({ wait }) => wait.total / 1000,
  },
];

/** Measurements. All processes that share a directory report the same, except for leases, so do not sum them. */
const GAUGES: readonly Metric<CacheStats>[] = [
  {
    name: "hedgerow.cache.size",
    unit: "By",
    description: "Disk usage of the directory, including space reserved for restores",
    of: ({ bytes }) => bytes,
  },
  {
    name: "hedgerow.cache.limit",
    unit: "By",
    description: "Maximum disk usage of the directory",
    of: ({ maxBytes }) => maxBytes,
  },
  {
    name: "hedgerow.cache.excess",
    unit: "By",
    description: "Disk usage above the limit, because images are in use",
    of: ({ excessBytes }) => excessBytes,
  },
  {
    name: "hedgerow.cache.entries",
    unit: "{image}",
    description: "Images in the cache",
    of: ({ entries }) => entries,
  },
  {
    name: "hedgerow.cache.leases",
    unit: "{lease}",
    description: "Images in use by this process",
    of: ({ leases }) => leases,
  },
];

/**
 * Reports the metrics of a cache to OpenTelemetry: its {@link ImageCache.stats} whenever metrics are collected, and
 * the duration of each `get`. Observe a directory once per process: a second observer counts everything twice.
 *
 * Imports nothing from OpenTelemetry but types.
 *
 * @returns a function that stops the reports: call it when you close the cache
 * @throws {SnapshotError} `ERR_ARGUMENT`
 *
 * @example
 * import { metrics } from "@opentelemetry/api";
 *
 * const stop = observeCache(cache, metrics.getMeter("sandboxes"));
 * await work(cache);
 * stop();
 * await cache.close();
 */
export function observeCache(cache: ImageCache, meter: Meter): () => void {
  check("cache", "an ImageCache", cache, { directory: "string", stats: "function" });
  checkMeter(meter);
  return observe(meter, {
    attributes: { "hedgerow.cache.directory": cache.directory },
    // A cache that has been closed or cannot be read is skipped.
    stats: () => cache.stats().catch(() => undefined),
    counters: COUNTERS,
    gauges: GAUGES,
    durations: {
      name: "hedgerow.cache.get.duration",
      description: "Time until an image could be used",
      channel: "hedgerow:cache:get",
      attributesOf: ({ directory, hit }) =>
        directory === cache.directory ? { "hedgerow.cache.hit": hit } : undefined,
    },
  });
}
