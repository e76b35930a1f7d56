/** The metrics of caches, disks and stores, as the OpenTelemetry SDK collects them. */
import { hasSubscribers } from "node:diagnostics_channel";
import { type Disk, openSnapshot } from "@hedgerow/snapshot";
import { observeCache, observeDisk, observeStore } from "@hedgerow/snapshot/opentelemetry";
import { DataPointType, type Histogram, type MetricData } from "@opentelemetry/sdk-metrics";
import { beforeAll, expect, onTestFinished, test } from "vitest";

import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { KIB, MIB, makeSamples, openCache, type Sample } from "./support/cache.js";
import { recordEvents } from "./support/events.js";
import { makeMeter } from "./support/meter.js";
import { BLOCK, fillBlock, openStore, whileAttached } from "./support/stores.js";

/** The pieces of the samples. */
const PIECE = 64 * KIB;

const path = temporaryFolder();
let [one, two] = [{} as Sample, {} as Sample];

beforeAll(async () => {
  [one, two] = (await makeSamples(path, ["one", "two"], { data: 512 * KIB })) as [Sample, Sample];
});

type Metrics = ReadonlyMap<string, MetricData>;

/** Returns the values of the metrics that have an attribute with a value: numbers, and the counts of histograms. */
function valuesOf(metrics: Metrics, attribute: string, wanted: string): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [name, { dataPoints }] of metrics) {
    // It has a histogram of hits, and one of misses.
    if (name === "hedgerow.cache.get.duration") continue;
    const own = dataPoints.filter(({ attributes }) => attributes[attribute] === wanted);
    expect(own.length, name).toBeLessThanOrEqual(1);
    for (const { value } of own)
      values[name] = typeof value === "number" ? value : (value as Histogram).count;
  }
  return values;
}

const ofCache = (metrics: Metrics, directory: string) =>
  valuesOf(metrics, "hedgerow.cache.directory", directory);
const ofDisk = (metrics: Metrics, { image }: Disk) =>
  valuesOf(metrics, "hedgerow.disk.image", image);

/** Returns the number and sum of the durations of hits, or of misses. */
function durationsOf(metrics: Metrics, hit: boolean) {
  const points = metrics.get("hedgerow.cache.get.duration")?.dataPoints ?? [];
  const found = points.find(({ attributes }) => attributes["hedgerow.cache.hit"] === hit);
  const { count, sum } = (found?.value ?? { count: 0, sum: 0 }) as Histogram;
  return { count, seconds: sum ?? 0 };
}

/** Throws unless metrics have names, units and instruments as OpenTelemetry recommends. */
function expectUsual(metrics: Metrics, now: RegExp): void {
  for (const { descriptor, dataPointType } of metrics.values()) {
    expect(descriptor.name).toMatch(/^hedgerow\.(cache|disk|store)\.[a-z_.]+$/);
    expect(descriptor.unit).toMatch(/^(By|s|\{[a-z]+\})$/);
    expect(descriptor.description).not.toBe("");
    const isDuration = /\.(duration|pause)$/.test(descriptor.name);
    const usual = isDuration ? DataPointType.HISTOGRAM : DataPointType.SUM;
    const expected = now.test(descriptor.name) ? DataPointType.GAUGE : usual;
    expect(dataPointType, descriptor.name).toBe(expected);
  }
  const counters = [...metrics.values()].filter((one) => one.dataPointType === DataPointType.SUM);
  expect(counters.every((metric) => "isMonotonic" in metric && metric.isMonotonic)).toBe(true);
}

test("reports the stats of each cache by its directory", async () => {
  const cache = await openCache(path("cache"), { maxBytes: 2 * MIB });
  const second = await openCache(path("second"));
  const { meter, collect } = makeMeter();
  for (const each of [cache, second]) onTestFinished(observeCache(each, meter));
  for (const { snapshot } of [one, one, one]) await (await cache.get(snapshot)).release();
  await cache.get(two.snapshot);
  await cache.prune(0);
  await cache.get(path("missing.vhs")).catch(() => {});

  const metrics = await collect();
  const stats = await cache.stats();
  expect(stats).toMatchObject({ hits: 2, misses: 2, fills: 2, evictions: 1, leases: 1 });
  expect(ofCache(metrics, cache.directory)).toEqual({
    "hedgerow.cache.hits": 2,
    "hedgerow.cache.misses": 2,
    "hedgerow.cache.fills": 2,
    "hedgerow.cache.failures": stats.failures,
    "hedgerow.cache.evictions": 1,
    "hedgerow.cache.damaged": 0,
    "hedgerow.cache.wait.time": stats.wait.total / 1000,
    "hedgerow.cache.size": stats.bytes,
    "hedgerow.cache.limit": 2 * MIB,
    "hedgerow.cache.excess": 0,
    "hedgerow.cache.entries": 1,
    "hedgerow.cache.leases": 1,
  });
  const [hits, misses] = [durationsOf(metrics, true), durationsOf(metrics, false)];
  expect([hits.count, misses.count]).toEqual([2, 2]);
  expect(hits.seconds).toBeCloseTo(stats.hit.total / 1000, 9);
  expect(misses.seconds).toBeCloseTo(stats.miss.total / 1000, 9);
  expectUsual(metrics, /\.(size|limit|excess|entries|leases)$/);
  expect(ofCache(metrics, second.directory)).toMatchObject({ "hedgerow.cache.misses": 0 });
  // A closed cache does not fail the collection.
  await second.close();
  expect(ofCache(await collect(), cache.directory)).toMatchObject({ "hedgerow.cache.hits": 2 });
});

test("reports a reopened directory once, if the first observer was stopped", async () => {
  const { meter, collect } = makeMeter();
  const first = await openCache(path("reopened"));
  const stop = observeCache(first, meter);
  await (await first.get(one.snapshot)).release();
  expect(hasSubscribers("hedgerow:cache:get")).toBe(true);
  stop();
  stop();
  expect(hasSubscribers("hedgerow:cache:get")).toBe(false);
  await first.close();
  const second = await openCache(path("reopened"));
  onTestFinished(observeCache(second, meter));
  for (const { snapshot } of [one, two]) await (await second.get(snapshot)).release();
  const metrics = await collect();
  expect(ofCache(metrics, second.directory)).toMatchObject({
    "hedgerow.cache.hits": 1,
    "hedgerow.cache.misses": 1,
    "hedgerow.cache.entries": 2,
  });
  expect([durationsOf(metrics, true).count, durationsOf(metrics, false).count]).toEqual([1, 2]);
});

/** Opens a disk, and closes it when the test ends. */
async function openDisk(name: string): Promise<Disk> {
  const disk = await openSnapshot(one.snapshot, { image: path(name), fill: "none" });
  onTestFinished(() => disk.close());
  return disk;
}

test("reports the stats of each disk by its image, and the waits of its readers as a histogram", async () => {
  const [disk, second] = [await openDisk("disk"), await openDisk("second disk")];
  const { meter, collect } = makeMeter();
  const stops = [disk, second].map((each) => observeDisk(each, meter));
  const before = ofDisk(await collect(), disk);
  expect(before).toMatchObject({ "hedgerow.disk.reads": 0 });
  // There is no value before the first read.
  expect(before).not.toHaveProperty("hedgerow.disk.first_byte.time");
  expect(before).not.toHaveProperty("hedgerow.disk.demand.duration");

  for (const offset of [0, 0, 3 * PIECE]) await disk.read(offset, 1);
  await second.read(0, 1);
  const stats = disk.stats();
  const metrics = await collect();
  expectUsual(metrics, /\.(time|frames)$/);
  const values = ofDisk(metrics, disk);
  expect(values).toEqual({
    "hedgerow.disk.reads": 3,
    "hedgerow.disk.filled": 2 * PIECE,
    "hedgerow.disk.trace.hits": 0,
    "hedgerow.disk.trace.misses": 2,
    "hedgerow.disk.trace.frames": 0,
    "hedgerow.disk.open.time": stats.open / 1000,
    "hedgerow.disk.first_byte.time": (stats.firstByte as number) / 1000,
    "hedgerow.disk.demand.duration": 2,
  });
  const waits = metrics.get("hedgerow.disk.demand.duration")?.dataPoints[0]?.value as Histogram;
  expect(waits.sum).toBeCloseTo(stats.demand.total / 1000, 9);
  expect(waits.buckets).toEqual({
    boundaries: stats.demand.bounds.map((bound) => bound / 1000),
    counts: stats.demand.counts,
  });
  expect(ofDisk(metrics, second)).toMatchObject({ "hedgerow.disk.reads": 1 });
  for (const stop of stops) stop();
  expect(hasSubscribers("hedgerow:disk:demand")).toBe(false);
  await disk.read(5 * PIECE, 1);
  // The SDK repeats the last values.
  expect(ofDisk(await collect(), disk)).toEqual(values);
});

test("reports attaching, saving, lost leases and collections of one store", async () => {
  const [store, other] = [
    await openStore(path("store"), { images: path("images") }),
    await openStore(path("other"), { images: path("images") }),
  ];
  const { meter, collect } = makeMeter();
  const stop = observeStore(store, meter);
  const saves = recordEvents("hedgerow:store:save");
  for (const each of [store, other]) {
    await each.create("a", { size: 2 * BLOCK });
    await whileAttached(each, "a", (disk) => fillBlock(disk, 0, "x"));
  }
  const lost = await store.attach("a");
  await fillBlock(lost, 1, "y");
  await (await store.attach("a", { steal: true })).detach();
  await expect(lost.save()).rejects.toThrow();
  await lost.detach({ save: false });
  await store.remove("a");
  for (let pass = 0; pass < 2; pass += 1) await store.collect({ grace: 0 });

  const metrics = await collect();
  expectUsual(metrics, /^$/);
  for (const { dataPoints } of metrics.values()) expect(dataPoints).toHaveLength(1);
  const { bytes } = saves.find(({ store: location }) => location === store.location)!;
  const values = valuesOf(metrics, "hedgerow.store.location", store.location);
  expect(values).toEqual({
    "hedgerow.store.attach.duration": 3,
    "hedgerow.store.save.duration": 1,
    "hedgerow.store.save.pause": 1,
    "hedgerow.store.saved": bytes,
    "hedgerow.store.changed": BLOCK,
    "hedgerow.store.leases.lost": 1,
    "hedgerow.store.deleted": expect.any(Number),
  });
  expect(values["hedgerow.store.deleted"]).toBeGreaterThan(bytes as number);
  stop();
  expect(hasSubscribers("hedgerow:store:attach")).toBe(false);
});
