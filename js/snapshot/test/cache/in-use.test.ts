/** Images in use are never evicted. */
import { beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  diskUse,
  expectImage,
  MIB,
  newDirectories,
  openCache,
  strayFiles,
} from "../support/cache.js";
import { LetterImages, THREE_IMAGES } from "../support/letter-images.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let images: LetterImages;

beforeAll(async () => {
  images = await LetterImages.make(path);
});

test("keeps an image that is in use and evicts others", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  const [image] = await images.lease(cache, "a");
  await images.use(cache, "bcdef");
  expect(images.in(cache)).toBe("aef");
  await expectImage(image!.path, images.of("a"));
  await image!.release();
  await images.use(cache, "bcd");
  expect(images.in(cache)).toBe("bcd");
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
  const directory = newDirectory();
  const [one, other] = [
    await openCache(directory, THREE_IMAGES),
    await openCache(directory, THREE_IMAGES),
  ];
  const [image] = await images.lease(one, "a");
  await images.use(other, "bcde");
  expect(images.in(other)).toBe("ade");
  expect(await other.stats()).toMatchObject({ leases: 0 });
  await image!.release();
  await images.use(other, "bc");
  expect(images.in(other)).toBe("bce");
});

test("exceeds its limit for images in use, and evicts them when they are released", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
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
  const directory = newDirectory();
  const [one, other] = [
    await openCache(directory, THREE_IMAGES),
    await openCache(directory, THREE_IMAGES),
  ];
  const first = await images.lease(one, "abc");
  const second = await images.lease(other, "d");
  expect((await one.stats()).excessBytes).toBeGreaterThan(0);
  await first[1]!.release();
  expect(images.in(one)).toBe("acd");
  expect((await other.stats()).excessBytes).toBe(0);
  await expectImage(second[0]!.path, images.of("d"));
});

test("evicts images that were in use when their cache is closed", async () => {
  const directory = newDirectory();
  const [one, other] = [
    await openCache(directory, THREE_IMAGES),
    await openCache(directory, THREE_IMAGES),
  ];
  await images.lease(one, "abcd");
  expect((await other.stats()).excessBytes).toBeGreaterThan(0);
  await one.close();
  expect((await other.stats()).excessBytes).toBe(0);
  expect(images.in(other)).toBe("bcd");
});
