/** The metrics of a disk, as the OpenTelemetry SDK collects them. */
import { hasSubscribers } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import { createSnapshot, openSnapshot } from "@hedgerow/snapshot";
import { observeDisk } from "@hedgerow/snapshot/opentelemetry";
import { DataPointType, type Histogram, type MetricData } from "@opentelemetry/sdk-metrics";
import { beforeAll, expect, onTestFinished, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { makeMeter } from "../support/meter.js";

const PIECE = 2 ** 16;
const path = temporaryFolder();

beforeAll(async () => {
  writeFileSync(path("image"), noise("metrics", 16 * PIECE));
  await createSnapshot(path("image"), path("a.vhs"), { pieceSize: PIECE, workers: 1 });
});

/** Opens a disk, and closes it when the test ends. */
async function open(name: string) {
  const disk = await openSnapshot(path("a.vhs"), { image: path(name), fill: "none" });
  onTestFinished(() => disk.close());
  return disk;
}

/** Returns the value of each metric of a disk. */
function valuesOf(metrics: ReadonlyMap<string, MetricData>, image: string) {
  const values: Record<string, number | Histogram> = {};
  for (const [name, { dataPoints }] of metrics) {
    const own = dataPoints.filter(({ attributes }) => attributes["hedgerow.disk.image"] === image);
    expect(own.length, name).toBeLessThanOrEqual(1);
    for (const { value } of own) values[name] = value as number | Histogram;
  }
  return values;
}

test("reports the stats of a disk, and the waits of its readers as a histogram", async () => {
  const disk = await open("disk");
  const { meter, collect } = makeMeter();
  onTestFinished(observeDisk(disk, meter));
  const before = valuesOf(await collect(), disk.image);
  expect(before).toMatchObject({ "hedgerow.disk.reads": 0 });
  // There is no value before the first read.
  expect(before).not.toHaveProperty("hedgerow.disk.first_byte.time");
  expect(before).not.toHaveProperty("hedgerow.disk.demand.duration");

  for (const offset of [0, 0, 3 * PIECE]) await disk.read(offset, 1);
  const stats = disk.stats();
  const values = valuesOf(await collect(), disk.image);
  const { "hedgerow.disk.demand.duration": waits, ...others } = values;
  expect(others).toEqual({
    "hedgerow.disk.reads": 3,
    "hedgerow.disk.filled": 2 * PIECE,
    "hedgerow.disk.trace.hits": 0,
    "hedgerow.disk.trace.misses": 2,
    "hedgerow.disk.trace.frames": 0,
    "hedgerow.disk.open.time": stats.open / 1000,
    "hedgerow.disk.first_byte.time": (stats.firstByte as number) / 1000,
  });
  const { count, sum, buckets } = waits as Histogram;
  expect(count).toBe(2);
  expect(sum).toBeCloseTo(stats.demand.total / 1000, 9);
  expect(buckets).toEqual({
    boundaries: stats.demand.bounds.map((bound) => bound / 1000),
    counts: stats.demand.counts,
  });
});

test("uses the units and instruments of OpenTelemetry for disks", async () => {
  const disk = await open("kinds");
  const { meter, collect } = makeMeter();
  onTestFinished(observeDisk(disk, meter));
  await disk.read(0, 1);
  const metrics = [...(await collect()).values()];
  expect(metrics).toHaveLength(8);
  for (const { descriptor, dataPointType } of metrics) {
    expect(descriptor.name).toMatch(/^hedgerow\.disk\.[a-z_.]+$/);
    expect(descriptor.unit).toMatch(/^(By|s|\{[a-z]+\})$/);
    expect(descriptor.description).not.toBe("");
    const isNow = /\.(time|frames)$/.test(descriptor.name);
    const isDuration = descriptor.name.endsWith(".duration");
    const usual = isDuration ? DataPointType.HISTOGRAM : DataPointType.SUM;
    expect(dataPointType, descriptor.name).toBe(isNow ? DataPointType.GAUGE : usual);
  }
});

test("separates disks by their images, and reports nothing after it was stopped", async () => {
  const [first, second] = [await open("first"), await open("second")];
  const { meter, collect } = makeMeter();
  const stops = [first, second].map((disk) => observeDisk(disk, meter));
  await first.read(0, 1);
  for (const offset of [0, PIECE]) await second.read(offset, 1);
  const countsOf = async () => {
    const metrics = await collect();
    return [first, second].map(({ image }) => {
      const values = valuesOf(metrics, image);
      const { count } = values["hedgerow.disk.demand.duration"] as Histogram;
      return [values["hedgerow.disk.reads"], count];
    });
  };
  const expected = [
    [1, 1],
    [2, 2],
  ];
  expect(await countsOf()).toEqual(expected);
  expect(hasSubscribers("hedgerow:disk:demand")).toBe(true);
  for (const stop of stops) stop();
  expect(hasSubscribers("hedgerow:disk:demand")).toBe(false);
  await first.read(5 * PIECE, 1);
  // The SDK repeats the last values.
  expect(await countsOf()).toEqual(expected);
});
