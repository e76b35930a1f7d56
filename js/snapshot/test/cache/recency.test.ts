/** The order of eviction: the least recently used image first, whatever the clocks do. */
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { diskUse, imageIn, newDirectories, openCache, strayFiles } from "../support/cache.js";
import { LetterImages, THREE_IMAGES } from "../support/letter-images.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let images: LetterImages;

beforeAll(async () => {
  images = await LetterImages.make(path);
});

test("evicts the image that was restored first, if none was used again", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  expect(await images.use(cache, "abc")).toBe("");
  expect(images.in(cache)).toBe("abc");
  await images.use(cache, "d");
  expect(images.in(cache)).toBe("bcd");
  await images.use(cache, "ef");
  expect(images.in(cache)).toBe("def");
  expect(await cache.stats()).toMatchObject({ entries: 3, evictions: 3, fills: 6, hits: 0 });
  expect(diskUse(cache.directory)).toBeLessThanOrEqual(THREE_IMAGES.maxBytes);
  expect(strayFiles(cache.directory)).toEqual([]);
});

test("evicts the image whose last use is the earliest", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  await images.use(cache, "abc");
  expect(await images.use(cache, "ab")).toBe("ab");
  await images.use(cache, "d");
  expect(images.in(cache)).toBe("abd");
  expect(await images.use(cache, "a")).toBe("a");
  await images.use(cache, "e");
  expect(images.in(cache)).toBe("ade");
});

test("does not count has, entries and verify as uses of an image", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  await images.use(cache, "abc");
  const { snapshot } = images.of("a");
  expect(await cache.has(snapshot)).toBe(true);
  await cache.entries();
  expect(await cache.verify()).toEqual({ good: 3, damaged: [] });
  await images.use(cache, "d");
  expect(images.in(cache)).toBe("bcd");
});

test("orders images by last use across all open caches of a directory", async () => {
  const directory = newDirectory();
  const [one, other] = [
    await openCache(directory, THREE_IMAGES),
    await openCache(directory, THREE_IMAGES),
  ];
  await images.use(one, "ab");
  await images.use(other, "c");
  expect(await images.use(other, "a")).toBe("a");
  await images.use(one, "d");
  expect(images.in(one)).toBe("acd");
  await images.use(other, "e");
  expect(images.in(one)).toBe("ade");
});

test("keeps the order of uses while no cache is open", async () => {
  const directory = newDirectory();
  const before = await openCache(directory, THREE_IMAGES);
  await images.use(before, "abc");
  await images.use(before, "a");
  await before.close();
  const after = await openCache(directory, THREE_IMAGES);
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

test.each([-1e9, -1, 1, 1e9])(
  "keeps the order of uses when the system clock is set by %i seconds",
  async (seconds) => {
    const directory = newDirectory();
    const cache = await openCache(directory, THREE_IMAGES);
    await images.use(cache, "abc");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
    try {
      await images.use(cache, "a");
      const other = await openCache(directory, THREE_IMAGES);
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
  const directory = newDirectory();
  const cache = await openCache(directory, THREE_IMAGES);
  const ahead = new Date("2050-01-01");
  utimesSync(join(directory, "hedgerow-cache"), ahead, ahead);
  for (let round = 0; round < 20; round += 1) await images.use(cache, "cab");
  await images.expectOrder(cache, "bac");
  const { lastUsed } = (await cache.entries()).at(-1)!;
  expect(lastUsed.getTime()).toBeGreaterThanOrEqual(ahead.getTime());
  await images.use(cache, "d");
  expect(images.in(cache)).toBe("abd");
});

test("takes over times of images that were changed from outside", async () => {
  const directory = newDirectory();
  const cache = await openCache(directory, THREE_IMAGES);
  await images.use(cache, "abc");
  const setTime = (name: string, time: string) =>
    utimesSync(imageIn(directory, images.of(name).digest), new Date(time), new Date(time));
  setTime("a", "2200-01-01");
  setTime("c", "1971-01-01");
  await images.use(cache, "d");
  expect(images.in(cache)).toBe("abd");
  expect(await images.use(cache, "a")).toBe("a");
  await images.use(cache, "ef");
  expect(images.in(cache)).toBe("aef");
});
