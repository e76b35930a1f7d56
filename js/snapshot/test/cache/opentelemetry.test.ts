/** The metrics of a cache, as the OpenTelemetry SDK collects them. */
import { hasSubscribers } from "node:diagnostics_channel";
import { observeCache } from "@hedgerow/snapshot/opentelemetry";
import { DataPointType, type Histogram, type MetricData } from "@opentelemetry/sdk-metrics";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { KIB, MIB, makeSamples, openCache, type Sample } from "../support/cache.js";
import { makeMeter } from "../support/meter.js";

const path = temporaryFolder();
let samples: Sample[];

beforeAll(async () => {
  samples = await makeSamples(path, ["one", "two"], { data: 512 * KIB });
});

/** Returns the value of each metric of a directory, except histograms. */
function valuesOf(metrics: ReadonlyMap<string, MetricData>, directory: string) {
  const values: Record<string, number> = {};
  for (const [name, { dataPointType, dataPoints }] of metrics) {
    if (dataPointType === DataPointType.HISTOGRAM) continue;
    const own = dataPoints.filter(
      ({ attributes }) => attributes["hedgerow.cache.directory"] === directory,
    );
    expect(own.length, name).toBeLessThanOrEqual(1);
    for (const { value } of own) values[name] = value as number;
  }
  return values;
}

/** Returns the number and sum of the durations of hits, or of misses. */
function durationsOf(metrics: ReadonlyMap<string, MetricData>, hit: boolean) {
  const points = metrics.get("hedgerow.cache.get.duration")?.dataPoints ?? [];
  const found = points.find(({ attributes }) => attributes["hedgerow.cache.hit"] === hit);
  const { count, sum } = (found?.value ?? { count: 0, sum: 0 }) as Histogram;
  return { count, seconds: sum ?? 0 };
}

test("reports the stats of the cache", async () => {
  const cache = await openCache(path("cache"), { maxBytes: 2 * MIB });
  const { meter, collect } = makeMeter();
  onTestFinished(observeCache(cache, meter));
  const [one, two] = samples as [Sample, Sample];
  for (const { snapshot } of [one, one, one]) await (await cache.get(snapshot)).release();
  await cache.get(two.snapshot);
  await cache.prune(0);
  await cache.get(path("missing.vhs")).catch(() => {});

  const metrics = await collect();
  const stats = await cache.stats();
  expect(stats).toMatchObject({ hits: 2, misses: 2, fills: 2, evictions: 1, leases: 1 });
  expect(valuesOf(metrics, cache.directory)).toEqual({
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
});

test("uses the units and instruments of OpenTelemetry", async () => {
  const cache = await openCache(path("kinds"));
  const { meter, collect } = makeMeter();
  onTestFinished(observeCache(cache, meter));
  await (await cache.get(samples[0]!.snapshot)).release();
  const metrics = [...(await collect()).values()];
  expect(metrics).toHaveLength(13);
  for (const { descriptor, dataPointType } of metrics) {
    expect(descriptor.name).toMatch(/^hedgerow\.cache\.[a-z.]+$/);
    expect(descriptor.unit).toMatch(/^(By|s|\{[a-z]+\})$/);
    expect(descriptor.description).not.toBe("");
    const isNow = /\.(size|limit|excess|entries|leases)$/.test(descriptor.name);
    const isDuration = descriptor.name.endsWith(".duration");
    const usual = isDuration ? DataPointType.HISTOGRAM : DataPointType.SUM;
    expect(dataPointType, descriptor.name).toBe(isNow ? DataPointType.GAUGE : usual);
  }
  const counters = metrics.filter(({ dataPointType }) => dataPointType === DataPointType.SUM);
  expect(counters.every((metric) => "isMonotonic" in metric && metric.isMonotonic)).toBe(true);
});

test("separates caches by their directories", async () => {
  const [first, second] = [await openCache(path("first")), await openCache(path("second"))];
  const { meter, collect } = makeMeter();
  for (const cache of [first, second]) onTestFinished(observeCache(cache, meter));
  for (const { snapshot } of samples) await (await first.get(snapshot)).release();
  await (await second.get(samples[0]!.snapshot)).release();
  const metrics = await collect();
  expect(valuesOf(metrics, first.directory)).toMatchObject({ "hedgerow.cache.entries": 2 });
  expect(valuesOf(metrics, second.directory)).toMatchObject({ "hedgerow.cache.entries": 1 });
  const points = metrics.get("hedgerow.cache.get.duration")?.dataPoints ?? [];
  expect(points.map(({ value }) => (value as Histogram).count)).toEqual([2, 1]);
});

test("reports nothing after it was stopped", async () => {
  const cache = await openCache(path("stopped"));
  const { meter, collect } = makeMeter();
  const stop = observeCache(cache, meter);
  await (await cache.get(samples[0]!.snapshot)).release();
  const before = valuesOf(await collect(), cache.directory);
  expect(before).toMatchObject({ "hedgerow.cache.misses": 1, "hedgerow.cache.hits": 0 });
  expect(hasSubscribers("hedgerow:cache:get")).toBe(true);
  stop();
  stop();
  expect(hasSubscribers("hedgerow:cache:get")).toBe(false);
  await (await cache.get(samples[0]!.snapshot)).release();
  const metrics = await collect();
  // The SDK repeats the last values.
  expect(valuesOf(metrics, cache.directory)).toEqual(before);
  expect(durationsOf(metrics, true).count).toBe(0);
});

test("reports a reopened directory once, if the first observer was stopped", async () => {
  const { meter, collect } = makeMeter();
  const first = await openCache(path("reopened"));
  const stop = observeCache(first, meter);
  await (await first.get(samples[0]!.snapshot)).release();
  stop();
  await first.close();
  const second = await openCache(path("reopened"));
  onTestFinished(observeCache(second, meter));
  for (const { snapshot } of samples) await (await second.get(snapshot)).release();
  const metrics = await collect();
  expect(valuesOf(metrics, second.directory)).toMatchObject({
    "hedgerow.cache.hits": 1,
    "hedgerow.cache.misses": 1,
    "hedgerow.cache.entries": 2,
  });
  expect([durationsOf(metrics, true).count, durationsOf(metrics, false).count]).toEqual([1, 2]);
});

test("skips a closed cache without failing the collection", async () => {
  const [closed, open] = [await openCache(path("closed")), await openCache(path("open"))];
  const { meter, collect } = makeMeter();
  for (const cache of [closed, open]) onTestFinished(observeCache(cache, meter));
  await closed.close();
  const metrics = await collect();
  expect(valuesOf(metrics, closed.directory)).toEqual({});
  expect(valuesOf(metrics, open.directory)).toMatchObject({ "hedgerow.cache.entries": 0 });
});
