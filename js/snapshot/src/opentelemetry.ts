/** `@hedgerow/snapshot/opentelemetry`: what the caches of a process do, as metrics. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Meter, Observable } from "@opentelemetry/api";

import type { ImageCache } from "./cache/image-cache.js";
import type { CacheStats } from "./cache/statistics/stats.js";
import { SnapshotError } from "./error.js";
import type { Events } from "./events.js";

/** A number of {@link CacheStats}, as a metric. */
interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  of(stats: CacheStats): number;
}

/** What is counted by this process: it only grows. */
const COUNTERS: readonly Metric[] = [
  {
    name: "hedgerow.cache.hits",
    unit: "{hit}",
    description: "Images that were there",
    of: ({ hits }) => hits,
  },
  {
    name: "hedgerow.cache.misses",
    unit: "{miss}",
    description: "Images that were not there, or had to be waited for",
    of: ({ misses }) => misses,
  },
  {
    name: "hedgerow.cache.fills",
    unit: "{fill}",
    description: "Images that were restored into the cache",
    of: ({ fills }) => fills,
  },
  {
    name: "hedgerow.cache.failures",
    unit: "{failure}",
    description: "Restores into the cache that failed, or were given up",
    of: ({ failures }) => failures,
  },
  {
    name: "hedgerow.cache.evictions",
    unit: "{eviction}",
    description: "Images that went to make room",
    of: ({ evictions }) => evictions,
  },
  {
    name: "hedgerow.cache.damaged",
    unit: "{image}",
    description: "Images that went because they were damaged",
    of: ({ damaged }) => damaged,
  },
  {
    name: "hedgerow.cache.wait.time",
    unit: "s",
    description: "Time for which other processes were waited for",
    of: ({ wait }) => wait.total / 1000,
  },
];

/** What is so now. All processes that share a directory find the same, so that sums of it mean nothing. */
const GAUGES: readonly Metric[] = [
  {
    name: "hedgerow.cache.size",
    unit: "By",
    description:
      "What the directory takes on the disk, promises to images that are restored included",
    of: ({ bytes }) => bytes,
  },
  {
    name: "hedgerow.cache.limit",
    unit: "By",
    description: "What it may take",
    of: ({ maxBytes }) => maxBytes,
  },
  {
    name: "hedgerow.cache.excess",
    unit: "By",
    description: "What it takes beyond that, because all of it is in use",
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
    description: "Images that this process uses",
    of: ({ leases }) => leases,
  },
];

/** Members of something, and what `typeof` says of each. */
type Members<T> = { readonly [Name in keyof T]?: "function" | "string" };

/** What a meter is asked for. */
const METER: Members<Meter> = {
  createObservableCounter: "function",
  createObservableGauge: "function",
  createHistogram: "function",
  addBatchObservableCallback: "function",
  removeBatchObservableCallback: "function",
};

/** The upper ends of the classes of durations, in seconds: hits take milliseconds, and restores up to minutes. */
const BOUNDARIES = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];

/**
 * Has a meter of OpenTelemetry observe a cache: what {@link ImageCache.stats} says, each time that metrics are
 * collected, and how long images take. Observe a directory once in a process: what is told of it twice counts
 * twice.
 *
 * Nothing of OpenTelemetry is loaded but what the meter has.
 *
 * @returns what ends it: call it when you close the cache
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
    // A cache that was closed has nothing to tell, nor has one that cannot be read just now.
    const stats = await cache.stats().catch(() => undefined);
    if (stats === undefined) return;
    for (const [observable, { of }] of observed) result.observe(observable, of(stats), attributes);
  };
  const durations = meter.createHistogram("hedgerow.cache.get.duration", {
    unit: "s",
    description: "How long it took until an image could be used",
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

/** Throws unless something has all members that it is asked for. @throws {SnapshotError} `ERR_ARGUMENT` */
function check<T>(name: string, expected: string, value: T, members: Members<T>): void {
  const kinds = Object.entries(members) as [keyof T, string][];
  try {
    if (kinds.every(([member, kind]) => typeof value[member] === kind)) return;
  } catch {
    // It is nothing, or a getter throws.
  }
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected ${expected}, found something else`);
}

function optionsOf({ unit, description }: Metric) {
  return { unit, description };
}
