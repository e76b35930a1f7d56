/** The disk usage of a cache, measured continuously while processes use it at random. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { bytesOnDisk } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { diskUse, filesIn, KIB, MIB, makeSample, openCache, strayFiles } from "../support/cache.js";
import { CacheProcess, type ChurnSample, type Use } from "../support/cache-job.js";

/** The seeds of the processes. */
const SEEDS = [1, 2, 3, 4];

/** The number of steps of each process. Three of four are gets. */
const STEPS = trials({ few: 20, all: 300 });

/** The maximum number of images each has in use. In the middle, together they exceed the limit. */
const HELD = [1, 2, 1, 8, 1, 2];

/** The maximum number of times that the processes take their steps. */
const MAX_ROUNDS = 8;

/** The pause between measurements, in milliseconds. */
const INTERVAL = 15;

/** The size of a record and a journal, and the margin that stays free, in bytes. */
const [OVERHEAD, MARGIN] = [8 * KIB, 64 * KIB];

const path = temporaryFolder();

/** The disk usage at a time, in milliseconds. */
interface Measured {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Images of many sizes, some of them sparse. */
async function makeSamples(): Promise<(ChurnSample & { readonly maxSize: number })[]> {
  const samples = [];
  for (let index = 0; index < 24; index += 1) {
    const data = 64 * KIB * (1 + ((index * 7) % 12));
    const holes = index % 3 === 0 ? { size: 2 * MIB, stride: 128 * KIB } : {};
    const sample = await makeSample(path, `${index}`, { data, ...holes });
    const sum = createHash("sha256").update(readFileSync(sample.image)).digest("hex");
    const maxSize = Math.max(bytesOnDisk(sample.image), data) + data / 128 + OVERHEAD;
    samples.push({ snapshot: sample.snapshot, digest: sample.digest, sum, maxSize });
  }
  return samples;
}

/** Returns the disk usage, or undefined if files appeared or disappeared meanwhile. */
function measure(directory: string): Measured | undefined {
  const [from, before] = [now(), filesIn(directory)];
  try {
    const bytes = diskUse(directory);
    const isSame = filesIn(directory).join() === before.join();
    return isSame ? { from, to: now(), bytes } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Adds measurements of the disk usage until the signal is aborted. */
async function measureAll(directory: string, all: Measured[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let measured: Measured | undefined;
    for (let tries = 0; tries < 20 && measured === undefined; tries += 1) {
      measured = measure(directory);
    }
    if (measured !== undefined) all.push(measured);
    await sleep(INTERVAL);
  }
}

// Hundreds of images are restored by each process, more than once on a busy machine.
const LIMIT = minutes({ few: 3, all: 10 });

test("stays within its limit, except for images in use, which stay intact", LIMIT, async () => {
  const samples = await makeSamples();
  const sizes = new Map(samples.map((sample) => [sample.digest, sample.maxSize]));
  const maxBytes = Math.floor(samples.reduce((sum, sample) => sum + sample.maxSize, 0) / 3);
  const directory = path("cache");
  const own = await openCache(directory, { maxBytes });
  const empty = diskUse(directory) + MARGIN;

  const ending = new AbortController();
  const measured: Measured[] = [];
  const measuring = measureAll(directory, measured, ending.signal);
  const processes = SEEDS.map(() => CacheProcess.start({ directory, options: { maxBytes } }));
  const churn = (round: number) =>
    Promise.all(
      processes.map((process, index) =>
        process.churn({
          ...{ samples, seed: SEEDS[index]! + SEEDS.length * round, steps: STEPS, held: HELD },
          kinds: ["get", "get", "get", "release"],
        }),
      ),
    );
  const churned = await churn(0);
  const uses = churned.flatMap((each) => each.uses);
  /** Returns the measurements, each with the disk usage of the images in use. */
  const measurements = () =>
    measured.map(({ from, to, bytes }) => {
      return { bytes, used: empty + bytesInUse(uses, from, to, sizes) };
    });
  /** Whether there are enough measurements within the limit and above it. */
  const isEnough = () => {
    const own = measurements().filter(({ used }) => used <= maxBytes).length;
    const isAbove = measured.some(({ bytes }) => bytes > maxBytes);
    return own > 0.7 * STEPS && measured.length - own > 0.15 * STEPS && isAbove;
  };
  // A busy machine measures less in the same time.
  for (let round = 1; round < MAX_ROUNDS && !isEnough(); round += 1)
    uses.push(...(await churn(round)).flatMap((each) => each.uses));
  ending.abort();
  await measuring;

  const count = (of: "hits" | "misses") => churned.reduce((sum, each) => sum + each[of], 0);
  expect(count("hits") + count("misses")).toBeGreaterThanOrEqual(2.8 * STEPS);
  expect(count("misses")).toBeGreaterThan(STEPS / 3);
  expect(count("hits")).toBeGreaterThan(STEPS / 3);
  for (const { bytes, used } of measurements())
    expect(bytes).toBeLessThanOrEqual(Math.max(maxBytes, used));
  expect(isEnough()).toBe(true);

  // Nothing is in use any more, so the cache is within its limit, as `du` counts, too.
  const stats = await own.stats();
  expect(stats).toMatchObject({ excessBytes: 0, bytes: diskUse(directory), leases: 0 });
  expect(stats.bytes).toBeLessThanOrEqual(maxBytes);
  expect(existsSync(join(directory, "excess"))).toBe(false);
  const [du] = `${execFileSync("du", ["-s", "--block-size=1", directory])}`.split("\t");
  expect(diskUse(directory)).toBe(Number(du));
  await Promise.all(processes.map((process) => process.end()));
  expect(strayFiles(directory)).toEqual([]);
});

/** Returns the size of the images that were in use at some time of an interval. */
function bytesInUse(
  uses: readonly Use[],
  from: number,
  to: number,
  sizes: ReadonlyMap<string, number>,
): number {
  const digests = uses.filter((use) => use.from <= to && use.to >= from).map((use) => use.digest);
  return [...new Set(digests)].reduce((sum, digest) => sum + (sizes.get(digest) ?? 0), 0);
}
