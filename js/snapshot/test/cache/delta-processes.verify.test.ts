/** Processes that get deltas of one base, some of which are killed. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ImageCache } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import {
  diskUse,
  KIB,
  MIB,
  makeSample,
  newDirectories,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { CacheProcess } from "../support/cache-job.js";
import { makeDelta, sentOf, write } from "../support/cached-deltas.js";
import { isPart, originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);

/** Over one connection, no request is hedged. */
const OPTIONS = { workers: 1, connections: 1, partSize: 256 * KIB };

const LIMITS = { maxBytes: 128 * MIB };

/** The length of the first request, for the end of a snapshot with its manifest, in bytes. */
const TAIL = 512 * KIB;

const KILLS = trials({ few: 3, all: 50 });

let [base, one, other] = [{} as Sample, {} as Sample, {} as Sample];
const sums = new Map<string, string>();

beforeAll(async () => {
  base = await makeSample(path, "base", { data: 8 * MIB, size: 16 * MIB, stride: 128 * KIB });
  one = await makeDelta(base, "one", [
    write("one", 4 * MIB, 3 * MIB),
    write("block", 9 * MIB + 16 * KIB, 4 * KIB),
    (bytes) => bytes.fill(0, 8 * MIB, 9 * MIB),
  ]);
  other = await makeDelta(one, "other", [write("other", 5 * MIB, MIB)]);
  for (const { image, digest } of [base, one, other]) sums.set(digest, sumOf(image));
});

function sumOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

/** Opens a cache, and puts the image of the base into it. */
async function cacheWithBase(): Promise<string> {
  const directory = newDirectory();
  const cache = await ImageCache.open(directory, LIMITS);
  await cache.get(base.snapshot, { workers: 1 });
  await cache.close();
  return directory;
}

/** Throws unless a cache that no process uses is intact, and has the image of a sample afterwards. */
async function expectWhole(directory: string, { snapshot, digest }: Sample): Promise<void> {
  const cache = await ImageCache.open(directory, LIMITS);
  try {
    expect(strayFiles(directory)).toEqual([]);
    const image = await cache.get(snapshot, { digest, workers: 1 });
    expect(sumOf(image.path)).toBe(sums.get(digest));
    await image.release();
    const entries = await cache.entries();
    expect(await cache.verify()).toEqual({ good: entries.length, damaged: [] });
    expect((await cache.stats()).bytes).toBe(diskUse(directory));
  } finally {
    await cache.close();
  }
}

test("processes restore the base once, and each of its deltas once", async () => {
  const origin = await originOf({
    "/base.vhs": base.snapshot,
    "/one.vhs": one.snapshot,
    "/other.vhs": other.snapshot,
  });
  const directory = newDirectory();
  const processes = [0, 1, 2].map(() => CacheProcess.start({ directory, options: LIMITS }));
  await Promise.all(processes.map((process) => process.untilReported("ready")));
  const wanted = processes.map((_, number) => (number === 0 ? "one" : "other"));
  const all = await Promise.all(
    processes.map((process, number) => {
      const source = origin.url(`/${wanted[number]}.vhs`).href;
      return process.get({ source, options: OPTIONS, times: 5 });
    }),
  );
  for (const [number, { images, errors }] of all.entries()) {
    expect(errors).toEqual([]);
    const { digest } = wanted[number] === "one" ? one : other;
    expect(new Set(images.map(({ sum }) => sum))).toEqual(new Set([sums.get(digest)]));
  }
  expect(sentOf(origin, "/base.vhs")).toBeLessThanOrEqual(base.fileSize + TAIL);
  await Promise.all(processes.map((process) => process.end()));
  expect(strayFiles(directory)).toEqual([]);
  await expectWhole(directory, other);
});

// A hundred processes start and are killed.
const LIMIT = minutes({ all: 4 });

test(
  `a cache is intact after each of ${KILLS} kills of a process that gets a delta`,
  LIMIT,
  async () => {
    const random = seededRandom(1);
    const directory = await cacheWithBase();
    let partial = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const process = CacheProcess.start({ directory, options: LIMITS });
      await process.untilReported("ready");
      const delta = kill % 2 === 0 ? one : other;
      const isFilling = () => strayFiles(directory).some((name) => name.endsWith(".part"));
      let isDone = false;
      const end = () => {
        isDone = true;
      };
      process.get({ source: delta.snapshot, options: { workers: 1 }, times: 1 }).then(end, end);
      // Two of three are killed during the fill, the others at any time before or after it.
      while (kill % 3 > 0 && !isFilling() && !isDone) await sleep(1);
      await sleep(random() * (kill % 3 > 0 ? 20 : 160));
      await process.kill();
      if (isFilling()) partial += 1;
      await expectWhole(directory, delta);
      const cache = await ImageCache.open(directory, LIMITS);
      for (const { snapshot, digest } of [one, other]) await cache.delete(snapshot, { digest });
      await cache.close();
    }
    expect(partial, "kills during a fill").toBeGreaterThan(0);
  },
);

test("a process continues what one that was killed has restored of a delta", async () => {
  const stallAfter = 1000;
  const origin = await originOf(
    { "/base.vhs": base.snapshot, "/one.vhs": one.snapshot },
    {
      faults: (request) => {
        const isLate = isPart(request) && (request.range?.start ?? 0) > one.fileSize / 2;
        return isLate ? { stallAfter } : undefined;
      },
    },
  );
  const directory = await cacheWithBase();
  const processes = [0, 1].map(() => CacheProcess.start({ directory, options: LIMITS }));
  await Promise.all(processes.map((process) => process.untilReported("ready")));
  const command = { source: origin.url("/one.vhs").href, options: OPTIONS, times: 1 };
  const getting = processes.map((process) => process.get(command));
  const settled = Promise.allSettled(getting);
  await Promise.all(processes.map((process) => process.untilReported("waiting")));
  while (origin.requests.filter(isPart).at(-1)?.bytesSent !== stallAfter) await sleep(10);
  const [killed, waiting] = processes[0]!.activities.includes("progress") ? [0, 1] : [1, 0];
  const sent = origin.bytesSent;
  origin.faults = undefined;
  await processes[killed!]!.kill();
  await settled;
  const { images, errors } = await getting[waiting!]!;
  expect(errors).toEqual([]);
  expect(images.map(({ sum }) => sum)).toEqual([sums.get(one.digest)]);
  // The first half was fetched before, and the base is cached.
  expect(origin.bytesSent - sent).toBeLessThan(one.fileSize / 2 + 2 * TAIL);
  expect(sentOf(origin, "/base.vhs")).toBe(0);
  await processes[waiting!]!.end();
  expect(strayFiles(directory)).toEqual([]);
  await expectWhole(directory, one);
});
