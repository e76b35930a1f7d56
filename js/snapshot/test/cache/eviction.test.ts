/** Which images are evicted, and never one in use, whatever the limits and clocks. `eviction-order.test.ts` tests the order. */
import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { ImageCache } from "@hedgerow/snapshot";
import { beforeAll, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { trials } from "../../../../tests/support/trials.js";
import {
  copyCache,
  diskUse,
  expectImage,
  imageIn,
  MIB,
  newDirectories,
  openCache,
  strayFiles,
} from "../support/cache.js";
import { LetterImages, THREE_IMAGES } from "../support/letter-images.js";
import { refusalOf } from "../support/refusal.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let images: LetterImages;

beforeAll(async () => {
  images = await LetterImages.make(path);
  const cache = await ImageCache.open(path("filled"), THREE_IMAGES);
  await images.use(cache, "abc");
  await cache.close();
});

/** Opens a cache in which three images were used in order: a copy, which is cheaper than to restore them again. */
async function openFilled(options = THREE_IMAGES): Promise<ImageCache> {
  const directory = newDirectory();
  copyCache(path("filled"), directory);
  return openCache(directory, options);
}

/** Opens such a cache twice. */
async function openFilledTwice(): Promise<[ImageCache, ImageCache]> {
  const one = await openFilled();
  return [one, await openCache(one.directory, THREE_IMAGES)];
}

test("does not count has, entries and verify as uses of an image", async () => {
  const cache = await openFilled();
  const { snapshot } = images.of("a");
  expect(await cache.has(snapshot)).toBe(true);
  await cache.entries();
  expect(await cache.verify()).toEqual({ good: 3, damaged: [] });
  await images.use(cache, "d");
  expect(images.in(cache)).toBe("bcd");
});

test("keeps the order of uses while no cache is open", async () => {
  const before = await openFilled();
  await images.use(before, "a");
  await before.close();
  const after = await openCache(before.directory, THREE_IMAGES);
  await images.expectOrder(after, "acb");
  await images.use(after, "d");
  expect(images.in(after)).toBe("acd");
});

test("keeps the order of uses within one millisecond", async () => {
  const directory = newDirectory();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  try {
    const cache = await openCache(directory, THREE_IMAGES);
    await images.use(cache, "abc");
    await images.use(cache, "cba");
    await images.use(cache, "d");
    expect(images.in(cache)).toBe("abd");
  } finally {
    vi.useRealTimers();
  }
});

test.each([-1e9, 1, -1, 1e9].slice(0, trials({ few: 2, all: 4 })))(
  "keeps the order of uses when the system clock is set by %i seconds",
  async (seconds) => {
    const cache = await openFilled();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
    try {
      await images.use(cache, "a");
      const other = await openCache(cache.directory, THREE_IMAGES);
      await images.use(other, "d");
      expect(images.in(cache)).toBe("acd");
      await images.use(cache, "ae");
      expect(images.in(cache)).toBe("ade");
    } finally {
      vi.useRealTimers();
    }
    // The system clock is right again.
    await images.use(cache, "df");
    expect(images.in(cache)).toBe("def");
  },
);

test("keeps the order of uses when the clock of the cache is years ahead", async () => {
  const cache = await openFilled();
  const ahead = new Date("2050-01-01");
  utimesSync(join(cache.directory, "hedgerow-cache"), ahead, ahead);
  for (let round = 0; round < 20; round += 1) await images.use(cache, "cab");
  await images.expectOrder(cache, "bac");
  const { lastUsed } = (await cache.entries()).at(-1)!;
  expect(lastUsed.getTime()).toBeGreaterThanOrEqual(ahead.getTime());
  await images.use(cache, "d");
  expect(images.in(cache)).toBe("abd");
});

test("takes over times of images that were changed from outside", async () => {
  const cache = await openFilled();
  const setTime = (name: string, time: string) =>
    utimesSync(imageIn(cache.directory, images.of(name).digest), new Date(time), new Date(time));
  setTime("a", "2200-01-01");
  setTime("c", "1971-01-01");
  await images.use(cache, "d");
  expect(images.in(cache)).toBe("abd");
  expect(await images.use(cache, "a")).toBe("a");
  await images.use(cache, "ef");
  expect(images.in(cache)).toBe("aef");
});

test("keeps an image until each of its users has released it", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  const [first, second, third] = await images.lease(cache, "aaa");
  expect([first, second, third].map((image) => image?.hit)).toEqual([false, true, true]);
  expect(await cache.stats()).toMatchObject({ leases: 1, leasedBytes: first!.bytes });
  // Releasing one lease twice does not release another.
  for (let time = 0; time < 3; time += 1) await first!.release();
  await second![Symbol.asyncDispose]();
  await images.use(cache, "bcde");
  expect(images.in(cache)).toBe("ade");
  await third!.release();
  expect(await cache.stats()).toMatchObject({ leases: 0, leasedBytes: 0 });
  await images.use(cache, "bc");
  expect(images.in(cache)).not.toContain("a");
});

test("keeps an image that is in use in another cache of the directory", async () => {
  const [one, other] = await openFilledTwice();
  const [image] = await images.lease(one, "a");
  await images.use(other, "de");
  expect(images.in(other)).toBe("ade");
  expect(await other.stats()).toMatchObject({ leases: 0 });
  await image!.release();
  await images.use(other, "bc");
  expect(images.in(other)).toBe("bce");
});

test("exceeds its limit for images in use, and evicts them when they are released", async () => {
  const cache = await openFilled();
  const leased = await images.lease(cache, "abcde");
  const { bytes, excessBytes, maxBytes } = await cache.stats();
  expect(bytes).toBe(diskUse(cache.directory));
  expect(excessBytes).toBe(bytes - maxBytes);
  expect(excessBytes).toBeGreaterThan(MIB);
  expect(images.in(cache)).toBe("abcde");
  await leased[0]!.release();
  expect(images.in(cache)).toBe("bcde");
  expect((await cache.stats()).excessBytes).toBeGreaterThan(0);
  await leased[2]!.release();
  expect(images.in(cache)).toBe("bde");
  expect((await cache.stats()).excessBytes).toBe(0);
  expect(strayFiles(cache.directory)).toEqual([]);
  // Within the limit, released images stay.
  for (const image of leased) await image.release();
  expect(images.in(cache)).toBe("bde");
});

test("evicts a released image for the excess of another cache of the directory", async () => {
  const [one, other] = await openFilledTwice();
  const first = await images.lease(one, "abc");
  const second = await images.lease(other, "d");
  expect((await one.stats()).excessBytes).toBeGreaterThan(0);
  await first[1]!.release();
  expect(images.in(one)).toBe("acd");
  expect((await other.stats()).excessBytes).toBe(0);
  await expectImage(second[0]!.path, images.of("d"));
});

test("evicts images that were in use when their cache is closed", async () => {
  const [one, other] = await openFilledTwice();
  await images.lease(one, "abcd");
  expect((await other.stats()).excessBytes).toBeGreaterThan(0);
  await one.close();
  expect((await other.stats()).excessBytes).toBe(0);
  expect(images.in(other)).toBe("bcd");
});

test("enforces the limit of each cache that has the directory open", async () => {
  const large = await openFilled({ maxBytes: 8 * MIB });
  await images.use(large, "def");
  expect(images.in(large)).toBe("abcdef");
  const small = await openCache(large.directory, THREE_IMAGES);
  expect(images.in(large)).toBe("def");
  await images.use(large, "ab");
  expect(images.in(large)).toBe("abdef");
  expect(await small.stats()).toMatchObject({ maxBytes: 4 * MIB });
  expect((await small.stats()).excessBytes).toBeGreaterThan(0);
  expect((await large.stats()).excessBytes).toBe(0);
  await images.use(small, "c");
  expect(images.in(large)).toBe("abc");
});

test("keeps an image in use although another cache has a smaller limit", async () => {
  const large = await openFilled({ maxBytes: 8 * MIB });
  const leased = await images.lease(large, "abcdef");
  const small = await openCache(large.directory, THREE_IMAGES);
  expect(images.in(small)).toBe("abcdef");
  for (const [index, image] of leased.entries()) {
    await expectImage(image.path, images.of("abcdef"[index]!));
  }
  for (const image of leased) await image.release();
  await small.prune();
  expect(images.in(small)).toBe("def");
});

test("prunes to a number of bytes, and keeps images in use", async () => {
  const cache = await openFilled();
  await cache.prune();
  expect(images.in(cache)).toBe("abc");
  await cache.prune(3 * MIB);
  expect(images.in(cache)).toBe("bc");
  expect(diskUse(cache.directory)).toBeLessThanOrEqual(3 * MIB);
  const [image] = await images.lease(cache, "b");
  await cache.prune(0);
  expect(images.in(cache)).toBe("b");
  await expectImage(image!.path, images.of("b"));
  await image!.release();
  await cache.prune(0);
  expect(images.in(cache)).toBe("");
  expect(existsSync(image!.path)).toBe(false);
  expect(await images.use(cache, "b")).toBe("");
  await refusalOf(cache.prune(-1), "ERR_ARGUMENT");
  await refusalOf(cache.prune(1.5), "ERR_ARGUMENT");
});
