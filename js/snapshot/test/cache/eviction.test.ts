/** Which images go to make room, and when. */
import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { CachedImage, ImageCache } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  digestsIn,
  diskUse,
  expectImage,
  imageIn,
  KIB,
  MIB,
  makeSamples,
  newDirectories,
  openCache,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { refusalOf } from "../support/refusal.js";
import { isPart, isTail, originOf } from "../support/remote.js";

/** Room for three images of 1 MiB, and not for four. */
const ROOM = { maxBytes: 4 * MIB };

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let [dense, sparse] = [[] as Sample[], [] as Sample[]];

beforeAll(async () => {
  dense = await makeSamples(path, ["a", "b", "c", "d", "e", "f"], { data: MIB });
  const names = Array.from({ length: 10 }, (_, index) => `sparse-${index}`);
  sparse = await makeSamples(path, names, { data: 128 * KIB, size: 64 * MIB, stride: MIB });
});

/** The dense samples that are in a cache, by their names. */
function namesIn({ directory }: ImageCache): string {
  const digests = digestsIn(directory);
  return [..."abcdef"].filter((_, index) => digests.includes(dense[index]!.digest)).join("");
}

/** Gets dense samples by their names, one after the other. */
async function lease(cache: ImageCache, names: string): Promise<CachedImage[]> {
  const images: CachedImage[] = [];
  for (const name of names) {
    const { snapshot, digest } = dense["abcdef".indexOf(name)]!;
    images.push(await cache.get(snapshot, { digest }));
  }
  return images;
}

/** Gets dense samples, and lets go of each at once. Returns which of them were there, by their names. */
async function use(cache: ImageCache, names: string): Promise<string> {
  let hits = "";
  for (const name of names) {
    const [image] = await lease(cache, name);
    await expectImage(image!.path, dense["abcdef".indexOf(name)]!);
    if (image!.hit) hits += name;
    await image!.release();
  }
  return hits;
}

describe("what was not used for the longest time goes first", () => {
  test("if it was not used since it came", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    expect(await use(cache, "abc")).toBe("");
    expect(namesIn(cache)).toBe("abc");
    await use(cache, "d");
    expect(namesIn(cache)).toBe("bcd");
    await use(cache, "ef");
    expect(namesIn(cache)).toBe("def");
    expect(await cache.stats()).toMatchObject({ entries: 3, evictions: 3, fills: 6, hits: 0 });
    expect(diskUse(cache.directory)).toBeLessThanOrEqual(ROOM.maxBytes);
    expect(strayFiles(cache.directory)).toEqual([]);
  });

  test("if it was used, by its last use", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    await use(cache, "abc");
    expect(await use(cache, "ab")).toBe("ab");
    await use(cache, "d");
    expect(namesIn(cache)).toBe("abd");
    expect(await use(cache, "a")).toBe("a");
    await use(cache, "e");
    expect(namesIn(cache)).toBe("ade");
  });

  test("whether it is there is no use, nor is looking at it", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    await use(cache, "abc");
    const [{ snapshot }] = dense as [Sample];
    expect(await cache.has(snapshot)).toBe(true);
    await cache.entries();
    expect(await cache.verify()).toEqual({ good: 3, damaged: [] });
    await use(cache, "d");
    expect(namesIn(cache)).toBe("bcd");
  });

  test("of all who have the directory open", async () => {
    const directory = newDirectory();
    const [one, other] = [await openCache(directory, ROOM), await openCache(directory, ROOM)];
    await use(one, "ab");
    await use(other, "c");
    expect(await use(other, "a")).toBe("a");
    await use(one, "d");
    expect(namesIn(one)).toBe("acd");
    await use(other, "e");
    expect(namesIn(one)).toBe("ade");
  });

  test("also after all have closed it", async () => {
    const directory = newDirectory();
    const before = await openCache(directory, ROOM);
    await use(before, "abc");
    await use(before, "a");
    await before.close();
    const after = await openCache(directory, ROOM);
    expect((await after.entries()).map(({ digest }) => digest)).toEqual(
      [0, 2, 1].map((index) => dense[index]!.digest),
    );
    await use(after, "d");
    expect(namesIn(after)).toBe("acd");
  });

  test("also if images are used within a millisecond", async () => {
    const directory = newDirectory();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    try {
      const cache = await openCache(directory, ROOM);
      await use(cache, "abc");
      await use(cache, "cba");
      await use(cache, "d");
      expect(namesIn(cache)).toBe("abd");
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([-1e9, -1, 1, 1e9])(
    "also if the clock of the system is set by %i seconds meanwhile",
    async (seconds) => {
      const directory = newDirectory();
      const cache = await openCache(directory, ROOM);
      await use(cache, "abc");
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
      try {
        await use(cache, "a");
        const other = await openCache(directory, ROOM);
        await use(other, "d");
        expect(namesIn(cache)).toBe("acd");
        await use(cache, "ae");
        expect(namesIn(cache)).toBe("ade");
      } finally {
        vi.useRealTimers();
      }
      // Back again, whatever it was meanwhile.
      await use(cache, "df");
      expect(namesIn(cache)).toBe("def");
    },
  );

  test("also if the clock of the cache is years ahead", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory, ROOM);
    const ahead = new Date("2050-01-01");
    utimesSync(join(directory, "hedgerow-cache"), ahead, ahead);
    for (let round = 0; round < 20; round += 1) await use(cache, "cab");
    const [first, second, third] = await cache.entries();
    expect([first, second, third].map((entry) => entry?.digest)).toEqual(
      [1, 0, 2].map((index) => dense[index]!.digest),
    );
    expect(third!.lastUsed.getTime()).toBeGreaterThanOrEqual(ahead.getTime());
    await use(cache, "d");
    expect(namesIn(cache)).toBe("abd");
  });

  test("also if someone has given images times of their own", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory, ROOM);
    await use(cache, "abc");
    const set = (index: number, time: string) =>
      utimesSync(imageIn(directory, dense[index]!.digest), new Date(time), new Date(time));
    set(0, "2200-01-01");
    set(2, "1971-01-01");
    await use(cache, "d");
    // They are what is known of them; and it is but the order that they are for.
    expect(namesIn(cache)).toBe("abd");
    expect(await use(cache, "a")).toBe("a");
    await use(cache, "ef");
    expect(namesIn(cache)).toBe("aef");
  });
});

describe("room is counted by what is on the disk", () => {
  test("not by images, or how long they are", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    for (const { snapshot } of sparse) await (await cache.get(snapshot)).release();
    await use(cache, "ab");
    const stats = await cache.stats();
    expect(stats).toMatchObject({ entries: 12, evictions: 0, excessBytes: 0 });
    expect(stats.bytes).toBe(diskUse(cache.directory));
    // One that is large takes the place of several that are small, and of no more than it needs.
    await use(cache, "c");
    const { evictions, bytes } = await cache.stats();
    expect(namesIn(cache)).toBe("abc");
    expect(evictions).toBeGreaterThan(1);
    expect(evictions).toBeLessThan(10);
    expect(bytes).toBe(diskUse(cache.directory));
    const left = new Set(digestsIn(cache.directory));
    expect(sparse.map(({ digest }) => left.has(digest))).toEqual(
      sparse.map((_, index) => index >= evictions),
    );
    expect(ROOM.maxBytes - bytes).toBeLessThan(300 * KIB);
  });

  test("of each image with what is known of it", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    const empty = (await cache.stats()).bytes;
    const image = await cache.get(sparse[0]!.snapshot);
    const [entry] = await cache.entries();
    expect(image.bytes).toBeGreaterThan(128 * KIB);
    expect(image.bytes).toBeLessThan(192 * KIB);
    // How often the cache was used takes a block itself.
    expect(entry!.bytes).toBeLessThanOrEqual((await cache.stats()).bytes - empty);
    expect(entry!.bytes).toBe(image.bytes);
  });

  test("and made before anything is fetched", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    await use(cache, "abc");
    const seen: string[] = [];
    let most = 0;
    const origin = await originOf({ "/d.vhs": dense[3]!.snapshot });
    origin.faults = (request) => {
      if (isPart(request)) seen.push(namesIn(cache));
      most = Math.max(most, diskUse(cache.directory));
      return undefined;
    };
    const options = { connections: 1, partSize: 128 * KIB };
    const image = await cache.get(origin.url("/d.vhs"), options);
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set(["bc"]));
    expect(most).toBeLessThanOrEqual(ROOM.maxBytes);
    await expectImage(image.path, dense[3]!);
  });

  test("also of what is being filled by others", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    await use(cache, "abc");
    const origin = await originOf({ "/d.vhs": dense[3]!.snapshot });
    origin.conditions = { bytesPerSecond: 2e6 };
    const filling = cache.get(origin.url("/d.vhs"), { connections: 1 });
    await vi.waitUntil(() => namesIn(cache) === "bc", { timeout: 20_000 });
    // What it will take is as good as taken.
    expect((await cache.stats()).bytes).toBeGreaterThan(3 * MIB);
    await use(cache, "e");
    expect((await cache.stats()).excessBytes).toBe(0);
    await (await filling).release();
    expect(namesIn(cache)).toBe("cde");
  });

  test("a snapshot that is too large is refused before any of it is fetched", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory, { maxBytes: MIB });
    const [large] = (await makeSamples(path, ["large"], { data: 2 * MIB })) as [Sample];
    const origin = await originOf({ "/a.vhs": large.snapshot });
    await (await cache.get(sparse[0]!.snapshot)).release();
    for (const source of [origin.url("/a.vhs"), large.snapshot]) {
      const error = await refusalOf(cache.get(source), "ERR_CACHE_SIZE");
      expect(error.message).toContain(`maxBytes ${MIB} leaves`);
    }
    const { digest } = large;
    await refusalOf(cache.get(origin.url("/a.vhs"), { digest }), "ERR_CACHE_SIZE");
    expect(origin.requests.every(isTail)).toBe(true);
    // Nothing had to go for it, either.
    expect(digestsIn(directory)).toEqual([sparse[0]!.digest]);
    await cache.close();
    await openCache(directory);
    expect(strayFiles(directory)).toEqual([]);
  });
});

describe("what is in use", () => {
  test("stays, and others go", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    const [image] = await lease(cache, "a");
    await use(cache, "bcdef");
    expect(namesIn(cache)).toBe("aef");
    await expectImage(image!.path, dense[0]!);
    await image!.release();
    await use(cache, "bcd");
    expect(namesIn(cache)).toBe("bcd");
  });

  test("stays until all have let go of it, each once", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    const [first, second, third] = await lease(cache, "aaa");
    expect([first, second, third].map((image) => image?.hit)).toEqual([false, true, true]);
    expect(await cache.stats()).toMatchObject({ leases: 1, leasedBytes: first!.bytes });
    // To let go twice is not to let go for another.
    for (let time = 0; time < 3; time += 1) await first!.release();
    await second![Symbol.asyncDispose]();
    await use(cache, "bcde");
    expect(namesIn(cache)).toBe("ade");
    await third!.release();
    expect(await cache.stats()).toMatchObject({ leases: 0, leasedBytes: 0 });
    await use(cache, "bc");
    expect(namesIn(cache)).not.toContain("a");
  });

  test("stays whoever else has the directory open wants room", async () => {
    const directory = newDirectory();
    const [one, other] = [await openCache(directory, ROOM), await openCache(directory, ROOM)];
    const [image] = await lease(one, "a");
    await use(other, "bcde");
    expect(namesIn(other)).toBe("ade");
    expect(await other.stats()).toMatchObject({ leases: 0 });
    await image!.release();
    await use(other, "bc");
    expect(namesIn(other)).toBe("bce");
  });

  test("may take more than there is room for, which is told, and goes when it is let go of", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    const images = await lease(cache, "abcde");
    const { bytes, excessBytes, maxBytes } = await cache.stats();
    expect(bytes).toBe(diskUse(cache.directory));
    expect(excessBytes).toBe(bytes - maxBytes);
    expect(excessBytes).toBeGreaterThan(MIB);
    expect(namesIn(cache)).toBe("abcde");
    await images[0]!.release();
    expect(namesIn(cache)).toBe("bcde");
    expect((await cache.stats()).excessBytes).toBeGreaterThan(0);
    await images[2]!.release();
    expect(namesIn(cache)).toBe("bde");
    expect((await cache.stats()).excessBytes).toBe(0);
    expect(strayFiles(cache.directory)).toEqual([]);
    // There is no need for others to go.
    for (const image of images) await image.release();
    expect(namesIn(cache)).toBe("bde");
  });

  test("goes when it is let go of, whoever took it, and whoever wanted room", async () => {
    const directory = newDirectory();
    const [one, other] = [await openCache(directory, ROOM), await openCache(directory, ROOM)];
    const first = await lease(one, "abc");
    const second = await lease(other, "d");
    expect((await one.stats()).excessBytes).toBeGreaterThan(0);
    await first[1]!.release();
    expect(namesIn(one)).toBe("acd");
    expect((await other.stats()).excessBytes).toBe(0);
    await expectImage(second[0]!.path, dense[3]!);
  });

  test("goes when its cache is closed", async () => {
    const directory = newDirectory();
    const [one, other] = [await openCache(directory, ROOM), await openCache(directory, ROOM)];
    await lease(one, "abcd");
    expect((await other.stats()).excessBytes).toBeGreaterThan(0);
    await one.close();
    expect((await other.stats()).excessBytes).toBe(0);
    expect(namesIn(other)).toBe("bcd");
  });
});

describe("two limits on one directory", () => {
  test("are each kept by who has it", async () => {
    const directory = newDirectory();
    const large = await openCache(directory, { maxBytes: 8 * MIB });
    await use(large, "abcdef");
    expect(namesIn(large)).toBe("abcdef");
    const small = await openCache(directory, ROOM);
    expect(namesIn(large)).toBe("def");
    await use(large, "ab");
    expect(namesIn(large)).toBe("abdef");
    expect(await small.stats()).toMatchObject({ maxBytes: 4 * MIB });
    expect((await small.stats()).excessBytes).toBeGreaterThan(0);
    expect((await large.stats()).excessBytes).toBe(0);
    await use(small, "c");
    expect(namesIn(large)).toBe("abc");
  });

  test("and what one wants gone stays while the other uses it", async () => {
    const directory = newDirectory();
    const large = await openCache(directory, { maxBytes: 8 * MIB });
    const images = await lease(large, "abcdef");
    const small = await openCache(directory, ROOM);
    expect(namesIn(small)).toBe("abcdef");
    for (const [index, image] of images.entries()) await expectImage(image.path, dense[index]!);
    for (const image of images) await image.release();
    await small.prune();
    expect(namesIn(small)).toBe("def");
  });
});

describe("prune", () => {
  test("has images go until there are no more bytes than were said", async () => {
    const cache = await openCache(newDirectory(), ROOM);
    await use(cache, "abc");
    await cache.prune();
    expect(namesIn(cache)).toBe("abc");
    await cache.prune(3 * MIB);
    expect(namesIn(cache)).toBe("bc");
    expect(diskUse(cache.directory)).toBeLessThanOrEqual(3 * MIB);
    const [image] = await lease(cache, "b");
    await cache.prune(0);
    expect(namesIn(cache)).toBe("b");
    await expectImage(image!.path, dense[1]!);
    await image!.release();
    await cache.prune(0);
    expect(namesIn(cache)).toBe("");
    expect(existsSync(image!.path)).toBe(false);
    expect(await use(cache, "b")).toBe("");
    await refusalOf(cache.prune(-1), "ERR_ARGUMENT");
    await refusalOf(cache.prune(1.5), "ERR_ARGUMENT");
  });
});
