/** Several limits on one directory, and pruning to another one. */
import { existsSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { diskUse, expectImage, MIB, newDirectories, openCache } from "../support/cache.js";
import { LetterImages, THREE_IMAGES } from "../support/letter-images.js";
import { refusalOf } from "../support/refusal.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let images: LetterImages;

beforeAll(async () => {
  images = await LetterImages.make(path);
});

test("enforces the limit of each cache that has the directory open", async () => {
  const directory = newDirectory();
  const large = await openCache(directory, { maxBytes: 8 * MIB });
  await images.use(large, "abcdef");
  expect(images.in(large)).toBe("abcdef");
  const small = await openCache(directory, THREE_IMAGES);
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
  const directory = newDirectory();
  const large = await openCache(directory, { maxBytes: 8 * MIB });
  const leased = await images.lease(large, "abcdef");
  const small = await openCache(directory, THREE_IMAGES);
  expect(images.in(small)).toBe("abcdef");
  for (const [index, image] of leased.entries()) {
    await expectImage(image.path, images.of("abcdef"[index]!));
  }
  for (const image of leased) await image.release();
  await small.prune();
  expect(images.in(small)).toBe("def");
});

test("prunes to a number of bytes, and keeps images in use", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  await images.use(cache, "abc");
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
