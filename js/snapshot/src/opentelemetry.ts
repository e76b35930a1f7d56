/** `@hedgerow/snapshot/opentelemetry`: metrics of image caches, disks and stores of disks. Imports nothing from OpenTelemetry but types. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Meter } from "@opentelemetry/api";

import type { ImageCache } from "./cache/image-cache.js";
import type { CacheStats } from "./cache/statistics.js";
import type { Disk } from "./disk/disk.js";
import type { DiskStats } from "./disk/statistics.js";
import type { Events } from "./events.js";
import { BOUNDARIES, check, checkMeter, type Metric, observe } from "./opentelemetry/observe.js";
import type { DiskStore } from "./store/disk-store.js";

/** The counters of a cache, of this process. */
const CACHE_COUNTERS: readonly Metric<CacheStats>[] = [
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

/** Measurements of a cache. All processes that share a directory report the same, except for leases, so do not sum them. */
const CACHE_GAUGES: readonly Metric<CacheStats>[] = [
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
    counters: CACHE_COUNTERS,
    gauges: CACHE_GAUGES,
    durations: {
      name: "hedgerow.cache.get.duration",
      description: "Time until an image could be used",
      channel: "hedgerow:cache:get",
      attributesOf: ({ directory, hit }) =>
        directory === cache.directory ? { "hedgerow.cache.hit": hit } : undefined,
    },
  });
}

const DISK_COUNTERS: readonly Metric<DiskStats>[] = [
  {
    name: "hedgerow.disk.reads",
    unit: "{read}",
    description: "Reads that returned data",
    of: ({ reads }) => reads,
  },
  {
    name: "hedgerow.disk.filled",
    unit: "By",
    description: "Bytes of the image that have arrived",
    of: ({ fill }) => fill.bytes,
  },
  {
    name: "hedgerow.disk.trace.hits",
    unit: "{hit}",
    description: "First reads of frames that the trace had fetched",
    of: ({ trace }) => trace.hits,
  },
  {
    name: "hedgerow.disk.trace.misses",
    unit: "{miss}",
    description: "First reads of other frames that were missing when the disk was opened",
    of: ({ trace }) => trace.misses,
  },
];

const DISK_GAUGES: readonly Metric<DiskStats>[] = [
  {
    name: "hedgerow.disk.open.time",
    unit: "s",
    description: "Time until the disk was open",
    of: ({ open }) => open / 1000,
  },
  {
    name: "hedgerow.disk.first_byte.time",
    unit: "s",
    description: "Time until the first read had its data",
    of: ({ firstByte }) => firstByte && firstByte / 1000,
  },
  {
    name: "hedgerow.disk.trace.frames",
    unit: "{frame}",
    description: "Frames that the trace named",
    of: ({ trace }) => trace.frames,
  },
];

/**
 * Reports the metrics of a disk to OpenTelemetry: its {@link Disk.stats} whenever metrics are collected, and the wait of
 * each read that has to wait for data. Observe a disk once, before you use it.
 *
 * @returns a function that stops the reports: call it when you close the disk
 * @throws {SnapshotError} `ERR_ARGUMENT`
 *
 * @example
 * import { metrics } from "@opentelemetry/api";
 *
 * const stop = observeDisk(disk, metrics.getMeter("sandboxes"));
 * await work(disk);
 * stop();
 * await disk.close();
 */
export function observeDisk(disk: Disk, meter: Meter): () => void {
  check("disk", "a disk", disk, { image: "string", stats: "function" });
  checkMeter(meter);
  return observe(meter, {
    attributes: { "hedgerow.disk.image": disk.image },
    stats: async () => disk.stats(),
    counters: DISK_COUNTERS,
    gauges: DISK_GAUGES,
    durations: {
      name: "hedgerow.disk.demand.duration",
      description: "Time that reads waited for data",
      channel: "hedgerow:disk:demand",
      attributesOf: ({ image }) => (image === disk.image ? {} : undefined),
    },
  });
}

/** The events of stores. */
type StoreEvents = Pick<Events, Extract<keyof Events, `hedgerow:store:${string}`>>;

/** Returns numbers of an event, by the names of their metrics. */
type Numbers<Event> = (event: Event) => Readonly<Record<string, number>>;

/** The histograms of a store, in seconds. */
const STORE_DURATIONS = {
  "hedgerow.store.attach.duration": "Duration of attaching a disk",
  "hedgerow.store.save.duration": "Duration of saving an attached disk",
  "hedgerow.store.save.pause": "Time that writes waited for a save",
};

/** The counters of a store: their unit and description. */
const STORE_COUNTERS = {
  "hedgerow.store.saved": ["By", "Bytes of the snapshots that were saved"],
  "hedgerow.store.changed": ["By", "Bytes in changed blocks that were saved"],
  "hedgerow.store.save.failures": ["{failure}", "Automatic saves that failed"],
  "hedgerow.store.leases.lost": ["{lease}", "Leases that were lost"],
  "hedgerow.store.deleted": ["By", "Bytes that collections deleted"],
} as const;

/** Functions that return the numbers that an event adds to the metrics. */
const STORE_EVENTS: { readonly [Name in keyof StoreEvents]: Numbers<StoreEvents[Name]> } = {
  "hedgerow:store:attach": ({ duration }) => ({
    "hedgerow.store.attach.duration": duration / 1000,
  }),
  "hedgerow:store:save": ({ duration, pause, bytes, changedBytes }) => ({
    "hedgerow.store.save.duration": duration / 1000,
    "hedgerow.store.save.pause": pause / 1000,
    "hedgerow.store.saved": bytes,
    "hedgerow.store.changed": changedBytes,
  }),
  "hedgerow:store:save-failed": () => ({ "hedgerow.store.save.failures": 1 }),
  "hedgerow:store:lost": () => ({ "hedgerow.store.leases.lost": 1 }),
  "hedgerow:store:collect": ({ bytes }) => ({ "hedgerow.store.deleted": bytes }),
};

/**
 * Reports to OpenTelemetry how this process uses a store of disks. Observe a store once, before you use it.
 *
 * @returns a function that stops the reports
 * @throws {SnapshotError} `ERR_ARGUMENT`
 *
 * @example
 * import { metrics } from "@opentelemetry/api";
 *
 * const stop = observeStore(store, metrics.getMeter("sandboxes"));
 * await work(store);
 * stop();
 */
export function observeStore(store: DiskStore, meter: Meter): () => void {
  check("store", "a store of disks", store, { location: "string", attach: "function" });
  checkMeter(meter);
  const { location } = store;
  const attributes = { "hedgerow.store.location": location };
  const metrics = new Map<string, (value: number) => void>();
  for (const [name, description] of Object.entries(STORE_DURATIONS)) {
    const advice = { explicitBucketBoundaries: BOUNDARIES };
    const histogram = meter.createHistogram(name, { unit: "s", description, advice });
    metrics.set(name, (value) => histogram.record(value, attributes));
  }
  for (const [name, [unit, description]] of Object.entries(STORE_COUNTERS)) {
    const counter = meter.createCounter(name, { unit, description });
    metrics.set(name, (value) => counter.add(value, attributes));
  }
  const stops = Object.entries(STORE_EVENTS).map(([channel, numbersOf]) => {
    const record = (message: unknown) => {
      if ((message as { readonly store: string }).store !== location) return;
      const numbers = (numbersOf as Numbers<unknown>)(message);
      for (const [name, value] of Object.entries(numbers)) metrics.get(name)?.(value);
    };
    subscribe(channel, record);
    return () => unsubscribe(channel, record);
  });
  return () => {
    for (const stop of stops) stop();
  };
}
