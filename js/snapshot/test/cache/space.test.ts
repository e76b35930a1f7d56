/** The space that a cache takes: counted on the disk, and reserved before anything is fetched. */
import { beforeAll, expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  digestsIn,
  diskUse,
  expectImage,
  KIB,
  MIB,
  makeSamples,
  newDirectories,
  openCache,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { LetterImages, THREE_IMAGES } from "../support/letter-images.js";
import { refusalOf } from "../support/refusal.js";
import { isPart, isTail, originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let images: LetterImages;
let sparse: Sample[];

beforeAll(async () => {
  images = await LetterImages.make(path);
  const names = Array.from({ length: 10 }, (_, index) => `sparse-${index}`);
  sparse = await makeSamples(path, names, { data: 128 * KIB, size: 64 * MIB, stride: MIB });
});

test("counts disk usage, and neither images nor their lengths", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  for (const { snapshot } of sparse) await (await cache.get(snapshot)).release();
  await images.use(cache, "ab");
  const stats = await cache.stats();
  expect(stats).toMatchObject({ entries: 12, evictions: 0, excessBytes: 0 });
  expect(stats.bytes).toBe(diskUse(cache.directory));
  // A large image replaces several small ones, and no more than needed.
  await images.use(cache, "c");
  const { evictions, bytes } = await cache.stats();
  expect(images.in(cache)).toBe("abc");
  expect(evictions).toBeGreaterThan(1);
  expect(evictions).toBeLessThan(10);
  expect(bytes).toBe(diskUse(cache.directory));
  const left = new Set(digestsIn(cache.directory));
  expect(sparse.map(({ digest }) => left.has(digest))).toEqual(
    sparse.map((_, index) => index >= evictions),
  );
  expect(THREE_IMAGES.maxBytes - bytes).toBeLessThan(300 * KIB);
});

test("counts an image with its record", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  const empty = (await cache.stats()).bytes;
  const image = await cache.get(sparse[0]!.snapshot);
  const [entry] = await cache.entries();
  expect(image.bytes).toBeGreaterThan(128 * KIB);
  expect(image.bytes).toBeLessThan(192 * KIB);
  // The totals take a block themselves.
  expect(entry!.bytes).toBeLessThanOrEqual((await cache.stats()).bytes - empty);
  expect(entry!.bytes).toBe(image.bytes);
});

test("evicts before it fetches anything", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  await images.use(cache, "abc");
  const seen: string[] = [];
  let maxUse = 0;
  const origin = await originOf({ "/d.vhs": images.of("d").snapshot });
  origin.faults = (request) => {
    if (isPart(request)) seen.push(images.in(cache));
    maxUse = Math.max(maxUse, diskUse(cache.directory));
    return undefined;
  };
  const options = { connections: 1, partSize: 128 * KIB };
  const image = await cache.get(origin.url("/d.vhs"), options);
  expect(seen.length).toBeGreaterThan(1);
  expect(new Set(seen)).toEqual(new Set(["bc"]));
  expect(maxUse).toBeLessThanOrEqual(THREE_IMAGES.maxBytes);
  await expectImage(image.path, images.of("d"));
});

test("counts the space reserved for a restore in progress", async () => {
  const cache = await openCache(newDirectory(), THREE_IMAGES);
  await images.use(cache, "abc");
  const origin = await originOf({ "/d.vhs": images.of("d").snapshot });
  origin.conditions = { bytesPerSecond: 2e6 };
  const filling = cache.get(origin.url("/d.vhs"), { connections: 1 });
  await vi.waitUntil(() => images.in(cache) === "bc", { timeout: 20_000 });
  // The reservation counts although little has been written.
  expect((await cache.stats()).bytes).toBeGreaterThan(3 * MIB);
  await images.use(cache, "e");
  expect((await cache.stats()).excessBytes).toBe(0);
  await (await filling).release();
  expect(images.in(cache)).toBe("cde");
});

test("refuses a snapshot that is too large before it fetches its data", async () => {
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
  // Nothing was evicted for it.
  expect(digestsIn(directory)).toEqual([sparse[0]!.digest]);
  await cache.close();
  await openCache(directory);
  expect(strayFiles(directory)).toEqual([]);
});
