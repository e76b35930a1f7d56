/** What a disk counts, and the events that it publishes. */
import { writeFileSync } from "node:fs";
import {
  createSnapshot,
  type DiskStats,
  type Histogram,
  type OpenOptions,
  openSnapshot,
  type Trace,
} from "@hedgerow/snapshot";
import { beforeAll, expect, onTestFinished, test } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { recordEvents } from "../support/events.js";
import { NbdClient } from "../support/nbd-client.js";
import { isTail, originOf } from "../support/remote.js";

const [BLOCK, PIECE, MIB] = [2 ** 12, 2 ** 16, 2 ** 20];
const path = temporaryFolder();
const image = noise("metrics", 2 * MIB);
let digest: string;

beforeAll(async () => {
  writeFileSync(path("image"), image);
  ({ digest } = await createSnapshot(path("image"), path("a.vhs"), {
    pieceSize: PIECE,
    workers: 1,
  }));
});

/** The time until the first byte of each response, in milliseconds. */
const DELAY = 60;

/** The shortest wait for a response: timers may fire a millisecond early. */
const SHORTEST = DELAY - 2;

/** The documented bounds of waits, in milliseconds. */
const BOUNDS = [
  ...[1, 2.5, 5, 10, 25, 50, 100, 250, 500],
  ...[1, 2.5, 5, 10, 30, 60, 120, 300].map((seconds) => seconds * 1000),
];

/** Offsets in frames of their own. */
const PLACES = [0, 2, 5, 7].map((piece) => piece * PIECE) as [number, number, number, number];

const traceOf = (...offsets: readonly number[]): Trace => {
  return { version: 1, ranges: offsets.map((offset) => [offset, PIECE]) };
};

/** Opens a disk over a slow server. It is closed when the test ends. */
async function open(name: string, options: Partial<OpenOptions> = {}, faults?: Faults) {
  const conditions = { firstByte: DELAY };
  const origin = await originOf({ "/a.vhs": path("a.vhs") }, { conditions, faults });
  // With a limit of connections, the beginning of the snapshot is not requested early.
  const how = { fill: "none", trace: false, workers: 1, connections: 8, ...options } as const;
  const url = origin.url("/a.vhs?signature=secret");
  const disk = await openSnapshot(url, { ...how, image: path(name) });
  onTestFinished(() => disk.close());
  return { disk, origin };
}

/** Returns the number of reads and of demand reads. Throws unless the histogram agrees. */
function readsOf({ reads, demand }: DiskStats): { reads: number; demand: number } {
  expectHistogram(demand);
  return { reads, demand: demand.count };
}

function expectHistogram({ bounds, counts, count, total, longest }: Histogram): void {
  expect(counts).toHaveLength(bounds.length + 1);
  expect(bounds).toEqual(BOUNDS);
  expect(counts.reduce((sum, bucket) => sum + bucket, 0)).toBe(count);
  const last = counts.findLastIndex((bucket) => bucket > 0);
  if (count > 0) expect(bounds[last] ?? Infinity).toBeGreaterThanOrEqual(longest);
  // All waits are for a response.
  for (const [at, bound] of bounds.entries()) if (bound < SHORTEST) expect(counts[at]).toBe(0);
  expect(total).toBeGreaterThanOrEqual(count * SHORTEST);
}

test("counts the reads of a disk, and those that waited for data", async () => {
  const { disk } = await open("reads");
  expect(readsOf(disk.stats())).toEqual({ reads: 0, demand: 0 });
  await disk.read(0, BLOCK);
  expect(readsOf(disk.stats())).toEqual({ reads: 1, demand: 1 });
  await disk.read(BLOCK, BLOCK);
  expect(readsOf(disk.stats())).toEqual({ reads: 2, demand: 1 });
  // Both wait for one request.
  await Promise.all([disk.read(4 * PIECE, 1), disk.read(4 * PIECE + 1, 1)]);
  expect(readsOf(disk.stats())).toEqual({ reads: 4, demand: 3 });
  await disk.write(8 * PIECE, noise("written", BLOCK));
  await disk.read(8 * PIECE, BLOCK);
  expect(readsOf(disk.stats())).toEqual({ reads: 5, demand: 3 });
});

test("counts the reads of NBD clients", async () => {
  const { disk } = await open("nbd");
  await disk.listen({ path: path("socket") });
  const client = await NbdClient.open(path("socket"));
  await client.readAt(0, BLOCK);
  for (let count = 0; count < 10; count += 1) await client.readAt(BLOCK, BLOCK);
  expect(readsOf(disk.stats())).toEqual({ reads: 11, demand: 1 });
  await client.close();
});

test("counts no read that failed", async () => {
  const demands = recordEvents("hedgerow:disk:demand");
  const faults: Faults = (request) => (isTail(request) ? undefined : { status: 500 });
  const { disk } = await open("failing", { onStall: "error", retries: 0 }, faults);
  await expect(disk.read(0, 1)).rejects.toMatchObject({ code: "ERR_SOURCE" });
  expect(readsOf(disk.stats())).toEqual({ reads: 0, demand: 0 });
  expect(disk.stats().firstByte).toBeUndefined();
  expect(demands).toEqual([]);
});

test("measures the time until a disk was open and until its first read had data", async () => {
  const { disk } = await open("times");
  const { open: opened, firstByte } = disk.stats();
  expect(opened).toBeGreaterThanOrEqual(SHORTEST);
  expect(firstByte).toBeUndefined();
  await disk.read(0, 1);
  const first = disk.stats();
  expect(first.open).toBe(opened);
  expect(first.firstByte).toBeGreaterThanOrEqual(opened + SHORTEST);
  await disk.read(PIECE, 1);
  expect(disk.stats().firstByte).toBe(first.firstByte);
});

test("measures the fill until it is complete", async () => {
  const filled = recordEvents("hedgerow:disk:filled");
  const { disk } = await open("filled", { fill: "all" });
  await disk.filled;
  const { fill } = disk.stats();
  expect(fill).toEqual({
    bytes: image.length,
    duration: expect.any(Number),
    bytesPerSecond: (image.length / fill.duration) * 1000,
  });
  expect(fill.duration).toBeGreaterThanOrEqual(SHORTEST);
  await disk.read(0, BLOCK);
  expect(disk.stats().fill).toEqual(fill);
  const { duration } = fill;
  expect(filled).toEqual([{ image: path("filled"), digest, bytes: image.length, duration }]);
});

test("does not publish that a disk is filled if it was closed before", async () => {
  const filled = recordEvents("hedgerow:disk:filled");
  const { disk } = await open("closed");
  await disk.close();
  await expect(disk.filled).rejects.toMatchObject({ code: "ERR_DISK_CLOSED" });
  expect(filled).toEqual([]);
});

const [one, two, three, four] = PLACES;

test.each([
  ["the trace of the same reads", traceOf(...PLACES), { frames: 4, hits: 4, misses: 0 }, 1],
  [
    "a trace of some of the reads",
    traceOf(three, one, MIB),
    { frames: 3, hits: 2, misses: 2 },
    0.5,
  ],
  ["a trace of other reads", traceOf(MIB), { frames: 1, hits: 0, misses: 4 }, 0],
  ["no trace", false, { frames: 0, hits: 0, misses: 4 }, 0],
] as const)(
  "counts the first reads of frames that had been fetched by %s",
  async (title, trace, counts, hitRate) => {
    const name = title.replaceAll(" ", "-");
    const { disk } = await open(name, { trace });
    expect(disk.stats().trace).toMatchObject({ hits: 0, misses: 0, hitRate: undefined });
    while (disk.progress.bytes < counts.frames * PIECE) await new Promise(setImmediate);
    // Only the first read of a frame counts.
    for (const offset of [...PLACES, ...PLACES]) await disk.read(offset, BLOCK);
    expect(disk.stats().trace).toEqual({ ...counts, hitRate });
    expect(readsOf(disk.stats())).toEqual({ reads: 8, demand: counts.misses });
  },
);

test("counts a frame as a miss if a reader needed it before the trace had fetched it", async () => {
  const { disk } = await open("early", { trace: traceOf(two) });
  await disk.read(two, BLOCK);
  await disk.read(two + BLOCK, BLOCK);
  expect(disk.stats().trace).toEqual({ frames: 1, hits: 0, misses: 1, hitRate: 0 });
});

test("counts no first reads of blocks that were written, or were there before", async () => {
  const { disk: first } = await open("reopened");
  await first.write(four, noise("written", BLOCK));
  await first.read(four, BLOCK);
  expect(first.stats().trace).toEqual({ frames: 0, hits: 0, misses: 0, hitRate: undefined });
  await first.read(one, BLOCK);
  expect(first.stats().trace).toMatchObject({ hits: 0, misses: 1 });
  await first.close();
  const { disk: second } = await open("reopened");
  await second.read(one, BLOCK);
  expect(readsOf(second.stats())).toEqual({ reads: 1, demand: 0 });
  expect(second.stats().trace).toEqual({ frames: 0, hits: 0, misses: 0, hitRate: undefined });
});

test("publishes that a disk is open, and each read that had to wait", async () => {
  const opened = recordEvents("hedgerow:disk:open");
  const demands = recordEvents("hedgerow:disk:demand");
  const { disk } = await open("published");
  expect(disk.image).toBe(path("published"));
  expect(opened).toEqual([{ image: disk.image, digest, duration: disk.stats().open }]);
  const reads = [
    [one, 1],
    [two + 10, BLOCK],
    [three, 2 * PIECE],
  ] as const;
  for (const [offset, length] of [...reads, ...reads]) await disk.read(offset, length);
  expect(demands).toEqual(
    reads.map(([offset, length]) => {
      return { image: disk.image, offset, length, duration: expect.any(Number) };
    }),
  );
  const total = demands.reduce((sum, { duration }) => sum + duration, 0);
  expect(disk.stats().demand).toMatchObject({ count: 3, total });
});

test("publishes each save, without the secrets of its destination", async () => {
  const saves = recordEvents("hedgerow:disk:save");
  const { disk, origin } = await open("saved");
  const url = origin.url("/b.vhs?signature=secret");
  [url.username, url.password] = ["user", "secret"];
  for (const [destination, name] of [
    [path("b.vhs"), path("b.vhs")],
    [url, origin.url("/b.vhs").href],
  ] as const) {
    await disk.write(0, noise(name, BLOCK));
    const { fileSize: bytes, duration } = await disk.save(destination, { overwrite: true });
    const pause = expect.any(Number);
    expect(saves.at(-1)).toEqual({ image: disk.image, destination: name, bytes, pause, duration });
    expect(saves.at(-1)?.pause).toBeGreaterThan(0);
    expect(saves.at(-1)?.pause).toBeLessThan(duration);
  }
  expect(saves).toHaveLength(2);
});
