/** Caches with very many images. */
import { utimesSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";

import { Layout } from "../../src/cache/files.js";
import { ImageCache } from "../../src/cache/image-cache.js";
import { digestOf, manifestOf, quickFolder, recordOf } from "../support/stored-images.js";

const COUNT = 10_000;

const SIZE = 4096;

const path = quickFolder();
const directory = path("cache");
const digests = Array.from({ length: COUNT }, (_, index) => digestOf(index));

/** When the first image was used, in seconds. Each of the others was used a second later. */
const FIRST_USE = 1_700_000_000;

beforeAll(async () => {
  const empty = await ImageCache.open(directory, { maxBytes: 2 ** 30 });
  await empty.close();
  const layout = new Layout(directory);
  const journal = await open(layout.lock, "r");
  for (const [index, digest] of digests.entries()) {
    const image = layout.image(digest);
    writeFileSync(image, Buffer.alloc(SIZE, digest), { mode: 0o400 });
    utimesSync(image, FIRST_USE + index, FIRST_USE + index);
    const record = await recordOf(manifestOf(digest, SIZE), journal);
    writeFileSync(layout.record(digest), record, { mode: 0o600 });
  }
  await journal.close();
});

test(`lists ${COUNT} images, the most recently used first`, async () => {
  await using cache = await ImageCache.open(directory, { maxBytes: 2 ** 30 });
  const entries = await cache.entries();
  expect(entries.map(({ digest }) => digest)).toEqual([...digests].reverse());
  expect(entries[0]).toMatchObject({
    ...{ bytes: 2 * SIZE, imageSize: SIZE, source: "nowhere" },
    lastUsed: new Date((FIRST_USE + COUNT - 1) * 1000),
  });
  const { entries: count, bytes, excessBytes } = await cache.stats();
  expect({ count, excessBytes }).toEqual({ count: COUNT, excessBytes: 0 });
  expect(bytes).toBeGreaterThanOrEqual(COUNT * 2 * SIZE);
});

test(`finds any of ${COUNT} images, and evicts the oldest under a smaller limit`, async () => {
  const digest = digests[0]!;
  const space = 1000 * 2 * SIZE;
  const bytes = await (async () => {
    await using cache = await ImageCache.open(directory, { maxBytes: 2 ** 30 });
    await using image = await cache.get(path("nowhere"), { digest });
    expect(image).toMatchObject({ hit: true, bytes: 2 * SIZE });
    return (await cache.stats()).bytes;
  })();
  await using smaller = await ImageCache.open(directory, { maxBytes: bytes - space });
  const left = (await smaller.entries()).map((entry) => entry.digest);
  // The first one was just used, so it is evicted last.
  expect(left[0]).toBe(digest);
  expect(left.slice(1)).toEqual(digests.slice(1 - left.length).reverse());
  expect(COUNT - left.length).toBeGreaterThanOrEqual(1000);
  expect(COUNT - left.length).toBeLessThan(1020);
  await expect(smaller.clear()).resolves.toBe(left.length);
  expect(await smaller.entries()).toEqual([]);
});
