/** Which images go: the same ones, in the same order, as of another cache that has the same room. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import fc from "fast-check";
import { LRUCache } from "lru-cache";
import { expect, onTestFinished, test, vi } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { trials } from "../../../../tests/support/trials.js";
import { type CacheComponents, openComponents } from "../../src/cache/components.js";
import { MARGIN } from "../../src/cache/eviction/size-limit.js";
import { digestOf, JOURNAL, quickFolder, RECORD, use } from "../support/stored-images.js";

vi.setConfig({ testTimeout: 240_000 });

const BLOCK = 4096;

const REQUESTS = trials({ few: 8_000, all: 100_000 });

const path = quickFolder();
let directories = 0;

/** A request for an image: which one, and how many blocks of data it has. */
interface Asked {
  readonly digest: string;
  readonly blocks: number;
}

/** Opens a new cache, once or more, that has room for images and their records of so many blocks. */
async function openTrace(room: number, times = 1): Promise<CacheComponents[]> {
  directories += 1;
  const directory = path(`${directories}`);
  const empty = await openComponents(directory, { maxBytes: Number.MAX_SAFE_INTEGER });
  const { bytes } = await empty.store.inventory();
  await empty.close();
  // Whatever is to come needs room for its journal, too.
  const maxBytes = bytes + MARGIN + JOURNAL + room * BLOCK;
  const all: CacheComponents[] = [];
  for (let count = 0; count < times; count += 1)
    all.push(await openComponents(directory, { maxBytes }));
  onTestFinished(async () => {
    for (const parts of all) await parts.close();
  });
  return all;
}

/** What came of a trace: the digests that went, in order, those that are there, and how often one was there. */
interface Played {
  readonly evicted: readonly string[];
  readonly left: readonly string[];
  readonly hits: number;
}

/** Asks a cache that is open once or more for images, each time another one of those. */
async function play(caches: readonly CacheComponents[], trace: readonly Asked[]): Promise<Played> {
  const evicted: string[] = [];
  const note = (message: unknown) => evicted.push((message as { digest: string }).digest);
  subscribe("hedgerow:cache:evict", note);
  try {
    let hits = 0;
    for (const [index, { digest, blocks }] of trace.entries()) {
      const parts = caches[index % caches.length]!;
      if (await use(parts, digest, blocks * BLOCK)) hits += 1;
    }
    const { images } = await caches[0]!.store.inventory();
    const sorted = [...images].sort((one, other) => (one.used < other.used ? -1 : 1));
    return { evicted, left: sorted.map(({ digest }) => digest), hits };
  } finally {
    unsubscribe("hedgerow:cache:evict", note);
  }
}

/** The same, as it should be. */
function playReference(room: number, trace: readonly Asked[]): Played {
  const evicted: string[] = [];
  const cache = new LRUCache<string, number>({
    maxSize: room,
    sizeCalculation: (blocks) => blocks + RECORD / BLOCK,
    dispose: (_, digest, reason) => {
      if (reason === "evict") evicted.push(digest);
    },
  });
  let hits = 0;
  for (const { digest, blocks } of trace) {
    if (cache.get(digest) !== undefined) hits += 1;
    else cache.set(digest, blocks);
  }
  return { evicted, left: [...cache.keys()].reverse(), hits };
}

/** Which of so many is asked for, the first most often: the share of the nth falls as 1 / n^skew. */
function zipf(count: number, skew: number, random: () => number): () => number {
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= count; rank += 1) {
    sum += rank ** -skew;
    sums.push(sum);
  }
  return () => {
    const found = random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! <= found) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Requests for images of 1 to 16 blocks. */
function zipfTrace(length: number, seed: number, count: number, skew: number): Asked[] {
  const random = seededRandom(seed);
  const next = zipf(count, skew, random);
  const images = Array.from({ length: count }, (_, rank) => {
    return { digest: digestOf(rank), blocks: 1 + Math.floor(random() * 16) };
  });
  return Array.from({ length }, () => images[next()]!);
}

test(`over ${REQUESTS} requests, images go in the order of a reference`, async () => {
  const room = 500;
  const trace = zipfTrace(REQUESTS, 1, 600, 1.5);
  const expected = playReference(room, trace);
  expect(expected.evicted.length).toBeGreaterThan(REQUESTS / 10);
  const found = await play(await openTrace(room), trace);
  expectSame(found, expected);
});

/** Throws unless all is the same. The test framework takes long to compare so much. */
function expectSame(found: Played, expected: Played): void {
  const first = expected.evicted.findIndex((digest, index) => digest !== found.evicted[index]);
  expect(first, "the first one that is another").toBe(-1);
  expect(found.evicted.length).toBe(expected.evicted.length);
  expect(found.left).toEqual(expected.left);
  expect(found.hits).toBe(expected.hits);
}

test("the same if a directory is open twice, and each is asked in turn", async () => {
  const trace = zipfTrace(5000, 2, 300, 1);
  expectSame(await play(await openTrace(300, 2), trace), playReference(300, trace));
});

test("the same whatever there is room for, and is asked for", async () => {
  const blocks = fc.integer({ min: 1, max: 12 });
  const trace = fc
    .tuple(
      fc.array(blocks, { minLength: 4, maxLength: 20 }),
      fc.array(fc.nat(999), { minLength: 10, maxLength: 80 }),
    )
    .map(([sizes, picks]) =>
      picks.map((pick) => {
        // The lower, the more often.
        const rank = Math.floor(sizes.length * (pick / 1000) ** 2);
        return { digest: digestOf(rank), blocks: sizes[rank]! };
      }),
    );
  const property = fc.asyncProperty(
    trace,
    fc.integer({ min: 13, max: 80 }),
    fc.integer({ min: 1, max: 3 }),
    async (asked, room, times) => {
      expectSame(await play(await openTrace(room, times), asked), playReference(room, asked));
    },
  );
  await fc.assert(property, { seed: 3, numRuns: 60 });
});

/**
 * Sandboxes, as they are started: most from one of 10 base images, 16 blocks each, the first of them most often.
 * One in twelve is one that was put to sleep before: its image is private, 8 blocks, and it is started 3 times,
 * soon after each other, while others are started, and then never again.
 */
function sandboxTrace(length: number, seed: number): Asked[] {
  const random = seededRandom(seed);
  const next = zipf(10, 0.8, random);
  const awake: string[] = [];
  let made = 0;
  return Array.from({ length }, () => {
    if (random() >= 1 / 12) return { digest: digestOf(`base ${next()}`), blocks: 16 };
    if (awake.length < 6) {
      made += 1;
      awake.push(...Array.from({ length: 3 }, () => digestOf(`private ${made}`)));
    }
    const [digest = ""] = awake.splice(Math.floor(random() * awake.length), 1);
    return { digest, blocks: 8 };
  });
}

test("where a few base images are used by most, 95 of 100 are there", async () => {
  const trace = sandboxTrace(10_000, 4);
  const bases = trace.filter(({ blocks }) => blocks === 16).length;
  expect(bases / trace.length).toBeGreaterThan(0.9);
  expect(bases / trace.length).toBeLessThan(0.95);
  // The bases, and six more.
  const room = 10 * 17 + 6 * 9;
  const { hits } = await play(await openTrace(room), trace);
  expect(hits / trace.length).toBeGreaterThanOrEqual(0.95);
  expect(hits).toBe(playReference(room, trace).hits);
});
