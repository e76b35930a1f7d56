/** `@hedgerow/snapshot/opentelemetry`: metrics of image caches. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Meter, Observable } from "@opentelemetry/api";

import type { ImageCache } from "./cache/image-cache.js";
import type { CacheStats } from "./cache/statistics/stats.js";
import { SnapshotError } from "./error.js";
import type { Events } from "./events.js";

/** A metric that reports a number of {@link CacheStats}. */
interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  of(stats: CacheStats): number;
}

/** The counters of this process. */
const COUNTERS: readonly Metric[] = [
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
const GAUGES: readonly Metric[] = [
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

/** The members of an object and the `typeof` of each. */
type Members<T> = { readonly [Name in keyof T]?: "function" | "string" };

/** The members that a meter must have. */
const METER: Members<Meter> = {
  createObservableCounter: "function",
  createObservableGauge: "function",
  createHistogram: "function",
  addBatchObservableCallback: "function",
  removeBatchObservableCallback: "function",
};

/** The bucket boundaries of durations, in seconds: hits take milliseconds, restores up to minutes. */
const BOUNDARIES = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
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
  check("meter", "a meter of OpenTelemetry", meter, METER);
  const attributes = { "hedgerow.cache.directory": cache.directory };
  const observed = new Map<Observable, Metric>();
  for (const metric of COUNTERS) {
    observed.set(meter.createObservableCounter(metric.name, optionsOf(metric)), metric);
  }
  for (const metric of GAUGES) {
    observed.set(meter.createObservableGauge(metric.name, optionsOf(metric)), metric);
  }
  const observables = [...observed.keys()];
  const observe: Parameters<Meter["addBatchObservableCallback"]>[0] = async (result) => {
    // A cache that has been closed or cannot be read is skipped.
    const stats = await cache.stats().catch(() => undefined);
    if (stats === undefined) return;
    for (const [observable, { of }] of observed) result.observe(observable, of(stats), attributes);
  };
  const durations = meter.createHistogram("hedgerow.cache.get.duration", {
    unit: "s",
    description: "Time until an image could be used",
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
  const record = (message: unknown) => {
    const { directory, hit, duration } = message as Events["hedgerow:cache:get"];
    if (directory !== cache.directory) return;
    durations.record(duration / 1000, { ...attributes, "hedgerow.cache.hit": hit });
  };
  meter.addBatchObservableCallback(observe, observables);
  subscribe("hedgerow:cache:get", record);
  return () => {
    meter.removeBatchObservableCallback(observe, observables);
    unsubscribe("hedgerow:cache:get", record);
  };
}

/** Throws unless a value has all members. @throws {SnapshotError} `ERR_ARGUMENT` */
function check<T>(name: string, expected: string, value: T, members: Members<T>): void {
  const kinds = Object.entries(members) as [keyof T, string][];
  try {
    if (kinds.every(([member, kind]) => typeof value[member] === kind)) return;
  } catch {
    // The value is null or undefined, or a getter throws.
  }
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected ${expected}, found something else`);
}

function optionsOf({ unit, description }: Metric) {
  return { unit, description };
}
