/** The order of eviction: least recently used, as in `lru-cache` with the same space. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readlinkSync } from "node:fs";
import { LRUCache } from "lru-cache";
import { expect, onTestFinished, test, vi } from "vitest";
import { seededRandom } from "../../../../tests/origin/random.mjs";
import fc from "../../../../tests/support/fast-check.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { type CacheComponents, openComponents } from "../../src/cache/components.js";
import { evictLeastRecentlyUsed, MARGIN } from "../../src/cache/eviction.js";
import { libc } from "../../src/local/libc.js";
import {
  digestOf,
  JOURNAL,
  manifestOf,
  quickFolder,
  RECORD,
  use,
} from "../support/stored-images.js";

const BLOCK = 4096;

const REQUESTS = trials({ few: 1_500, all: 25_000 });

const path = quickFolder();
let directories = 0;

/** A request for an image with a number of blocks of data. */
interface ImageRequest {
  readonly digest: string;
  readonly blocks: number;
}

/** Opens a new cache, once or more, with space for a number of blocks of images and their records. */
async function openTrace(space: number, times = 1): Promise<CacheComponents[]> {
  directories += 1;
  const directory = path(`${directories}`);
  const empty = await openComponents(directory, { maxBytes: Number.MAX_SAFE_INTEGER });
  const { bytes } = await empty.store.inventory();
  await empty.close();
  // A restore needs space for its journal, too.
  const maxBytes = bytes + MARGIN + JOURNAL + space * BLOCK;
  const all: CacheComponents[] = [];
  for (let count = 0; count < times; count += 1)
    all.push(await openComponents(directory, { maxBytes }));
  onTestFinished(async () => {
    for (const parts of all) await parts.close();
  });
  return all;
}

/** The result of a trace: the evicted digests in order, the remaining ones, and the number of hits. */
interface Played {
  readonly evicted: readonly string[];
  readonly left: readonly string[];
  readonly hits: number;
}

/** Requests images from the open caches of a directory in turn. */
async function play(
  caches: readonly CacheComponents[],
  trace: readonly ImageRequest[],
): Promise<Played> {
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

/** Plays a trace on `lru-cache`. */
function playReference(space: number, trace: readonly ImageRequest[]): Played {
  const evicted: string[] = [];
  const cache = new LRUCache<string, number>({
    maxSize: space,
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

/** Returns a generator of ranks below `count` with a Zipf distribution: the share of the nth falls as 1 / n^skew. */
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
function zipfTrace(length: number, seed: number, count: number, skew: number): ImageRequest[] {
  const random = seededRandom(seed);
  const next = zipf(count, skew, random);
  const images = Array.from({ length: count }, (_, rank) => {
    return { digest: digestOf(rank), blocks: 1 + Math.floor(random() * 16) };
  });
  return Array.from({ length }, () => images[next()]!);
}

// Each request looks at files.
const LIMIT = minutes({ all: 5 });

test(`evicts images in the order of lru-cache over ${REQUESTS} requests`, LIMIT, async () => {
  const space = 400;
  const trace = zipfTrace(REQUESTS, 1, 600, 1.5);
  const expected = playReference(space, trace);
  expect(expected.evicted.length).toBeGreaterThan(REQUESTS / 10);
  const found = await play(await openTrace(space), trace);
  expectSame(found, expected);
});

/** Throws unless two results are the same. Finds the first difference itself, since `toEqual` takes long here. */
function expectSame(found: Played, expected: Played): void {
  const first = expected.evicted.findIndex((digest, index) => digest !== found.evicted[index]);
  expect(first, "the first difference").toBe(-1);
  expect(found.evicted.length).toBe(expected.evicted.length);
  expect(found.left).toEqual(expected.left);
  expect(found.hits).toBe(expected.hits);
}

test("evicts in the order of lru-cache when two caches of a directory are used in turn", async () => {
  const trace = zipfTrace(trials({ few: 300, all: 2_000 }), 2, 300, 1);
  expectSame(await play(await openTrace(300, 2), trace), playReference(300, trace));
});

test("evicts in the order of lru-cache for any space and any requests", async () => {
  const blocks = fc.integer({ min: 1, max: 12 });
  const trace = fc
    .tuple(
      fc.array(blocks, { minLength: 4, maxLength: 20 }),
      fc.array(fc.nat(999), { minLength: 10, maxLength: 80 }),
    )
    .map(([sizes, picks]) =>
      picks.map((pick) => {
        // Lower ranks are more frequent.
        const rank = Math.floor(sizes.length * (pick / 1000) ** 2);
        return { digest: digestOf(rank), blocks: sizes[rank]! };
      }),
    );
  const property = fc.asyncProperty(
    trace,
    fc.integer({ min: 13, max: 80 }),
    fc.integer({ min: 1, max: 3 }),
    async (requests, space, times) => {
      expectSame(
        await play(await openTrace(space, times), requests),
        playReference(space, requests),
      );
    },
  );
  await fc.assert(property, { seed: 3, numRuns: trials({ few: 12, all: 60 }) });
});

/**
 * A trace of sandbox starts. Most start from one of 10 base images of 16 blocks, the first most often. One in twelve
 * wakes a sleeping sandbox, whose private image of 8 blocks is started 3 times in short succession, and never again.
 */
function sandboxTrace(length: number, seed: number): ImageRequest[] {
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

test("hits at least 95 % of requests where most sandboxes use a few base images", async () => {
  const trace = sandboxTrace(trials({ few: 2_500, all: 5_000 }), 4);
  const bases = trace.filter(({ blocks }) => blocks === 16).length;
  expect(bases / trace.length).toBeGreaterThan(0.9);
  expect(bases / trace.length).toBeLessThan(0.95);
  // Space for the bases and six private images.
  const space = 10 * 17 + 6 * 9;
  const { hits } = await play(await openTrace(space), trace);
  expect(hits / trace.length).toBeGreaterThanOrEqual(0.95);
  expect(hits).toBe(playReference(space, trace).hits);
});

interface Image {
  readonly bytes: number;
  readonly used: bigint;
  readonly isInUse: boolean;
}

const images = fc
  .array(fc.record({ bytes: fc.nat(100), used: fc.bigInt(0n, 2n ** 60n), isInUse: fc.boolean() }), {
    maxLength: 20,
  })
  // Of two images with the same time, either may be evicted.
  .map((all): Image[] => [...new Map(all.map((image) => [image.used, image])).values()]);

/** Evicts images that are not in use. Returns them, and the number of missing bytes. */
async function evict(all: readonly Image[], wanted: number) {
  const evicted: Image[] = [];
  const missing = await evictLeastRecentlyUsed(all, wanted, async (image) => {
    if (!image.isInUse) evicted.push(image);
    return !image.isInUse;
  });
  return { evicted, missing };
}

test("evicts the least recently used images, and no more than necessary", async () => {
  await fc.assert(
    fc.asyncProperty(images, fc.integer({ min: -10, max: 1500 }), async (all, wanted) => {
      const { evicted, missing } = await evict(all, wanted);
      const idle = all.filter(({ isInUse }) => !isInUse);
      const inOrder = idle.sort((one, other) => (one.used < other.used ? -1 : 1));
      expect(evicted).toEqual(inOrder.slice(0, evicted.length));
      const freed = evicted.reduce((sum, { bytes }) => sum + bytes, 0);
      expect(missing).toBe(Math.max(0, wanted - freed));
      // Without the last one, too little would be freed.
      const last = evicted.at(-1);
      if (last !== undefined) expect(freed - last.bytes).toBeLessThan(wanted);
      if (missing > 0) expect(evicted.length).toBe(idle.length);
    }),
  );
});

test("ignores the order in which images are found, and does not change it", async () => {
  await fc.assert(
    fc.asyncProperty(images, fc.nat(1500), async (all, wanted) => {
      const reversed = [...all].reverse();
      const before = [...reversed];
      expect((await evict(reversed, wanted)).evicted).toEqual((await evict(all, wanted)).evicted);
      expect(reversed).toEqual(before);
    }),
  );
});

test("compares times that a number cannot represent exactly", async () => {
  const used = 2n ** 60n;
  const all = [used + 1n, used, used + 2n].map((time) => ({
    bytes: 1,
    used: time,
    isInUse: false,
  }));
  expect((await evict(all, 1)).evicted).toEqual([all[1]]);
});

const SIZE = 2 ** 19;

test("evicts an image that is released just after eviction has skipped it", async () => {
  const options = { maxBytes: 2 * SIZE };
  const [one, other] = [
    await openComponents(path("released"), options),
    await openComponents(path("released"), options),
  ];
  const digest = digestOf("in use");
  await use(one, digest, SIZE);
  const lease = await one.store.take(digest);
  if (lease === undefined) throw new Error("expected an image");

  const system = (await libc())!;
  const flock = system.flock;
  let released: Promise<void> | undefined;
  vi.spyOn(system, "flock").mockImplementation((fd, operation) => {
    const result = flock(fd, operation);
    const isInUse = result < 0 && readlinkSync(`/proc/self/fd/${fd}`).includes(digest);
    if (isInUse) released ??= one.store.release(lease);
    return result;
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const reserved = await other.writer.reserve(manifestOf(digestOf("new"), SIZE), 4096);
  expect(released).toBeDefined();
  await released;
  expect(one.store.has(digest)).toBe(false);

  await reserved.file.close();
  await one.close();
  await other.close();
});
