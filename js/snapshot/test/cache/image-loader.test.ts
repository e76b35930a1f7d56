/** Concurrent requests for one image share one restore, which lasts while anyone waits for it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CachedImage, ImageCache, Progress } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test, vi } from "vitest";

import type { Origin } from "../../../../tests/origin/origin.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { trials } from "../../../../tests/support/trials.js";
import {
  expectImage,
  KIB,
  MIB,
  makeSample,
  newDirectories,
  openCache,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { openLockFiles } from "../support/lock-files.mjs";
import { refusalOf } from "../support/refusal.js";
import { expectNoConnections, faultsOf, isPart, isTail, originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let sample = {} as Sample;

/** Slow enough for other requests to arrive meanwhile. */
const SLOW = { conditions: { bytesPerSecond: 3e6 } };

/** Over one connection, no request is hedged. */
const OPTIONS = { workers: 1, connections: 1, partSize: 256 * KIB };

beforeAll(async () => {
  sample = await makeSample(path, "image", { data: 3 * MIB });
});

/** Throws unless each byte of the data was requested once, apart from the end of the snapshot. */
function expectFetchedOnce(origin: Origin): void {
  const parts = origin.requests.filter(isPart).map(({ range }) => range!);
  const sorted = parts.sort((first, second) => first.start - second.start);
  for (const [index, { start }] of sorted.entries()) {
    expect(start).toBeGreaterThanOrEqual(sorted[index - 1]?.end ?? 0);
  }
  expect(origin.requests.filter(isTail).length).toBe(1);
}

/** Whether one cache of this process waits for a lock that another one holds. */
function isWaiting(): boolean {
  const paths = openLockFiles();
  return new Set(paths).size < paths.length;
}

/** The ways to request the sample from an origin. */
const WAYS = {
  "a URL": (origin: Origin) => ({ source: origin.url("/a.vhs"), digest: undefined }),
  "a digest": (origin: Origin) => ({ source: origin.url("/a.vhs"), digest: sample.digest }),
};

describe.each(Object.entries(WAYS))("by %s", (name, way) => {
  let number = Object.keys(WAYS).indexOf(name);

  /** Defines a test, in `npm test` for one of the ways only, which is another for the next test. */
  const testWay = (title: string, run: () => Promise<void>) => {
    number += 1;
    if (number % trials({ few: 2, all: 1 }) === 0) test(title, run);
  };

  const get = (cache: ImageCache, origin: Origin, options = {}) => {
    const { source, digest } = way(origin);
    return cache.get(source, { ...OPTIONS, digest, ...options });
  };

  testWay("fetches an image once for 25 concurrent requests", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const origin = await originOf({ "/a.vhs": sample.snapshot });
    const images = await Promise.all(Array.from({ length: 25 }, () => get(cache, origin)));
    for (const image of images) expect(image).toMatchObject({ hit: false, path: images[0]!.path });
    await expectImage(images[0]!.path, sample);
    expectFetchedOnce(origin);
    expect(await cache.stats()).toMatchObject({ fills: 1, misses: 25, hits: 0, leases: 1 });
    for (const image of images) {
      expect((await cache.stats()).leases).toBe(1);
      await image.release();
    }
    expect((await cache.stats()).leases).toBe(0);
    expect(strayFiles(directory)).toEqual([]);
  });

  testWay("fetches an image once for two caches of a directory, of which one waits", async () => {
    const directory = newDirectory();
    const caches = [await openCache(directory), await openCache(directory)];
    const origin = await originOf({ "/a.vhs": sample.snapshot });
    const wanted = Array.from({ length: 10 }, (_item, index) => get(caches[index % 2]!, origin));
    for (const image of await Promise.all(wanted)) await expectImage(image.path, sample);
    expectFetchedOnce(origin);
    const stats = await Promise.all(caches.map((cache) => cache.stats()));
    expect(stats.map(({ fills }) => fills).sort()).toEqual([0, 1]);
    expect(stats.map(({ wait }) => wait.count).sort()).toEqual([0, 1]);
    expect(strayFiles(directory)).toEqual([]);
  });

  testWay(
    "removes a load that all callers cancelled, and starts a new one for the next",
    async () => {
      const directory = newDirectory();
      const cache = await openCache(directory);
      const origin = await originOf({ "/a.vhs": sample.snapshot }, SLOW);
      const controller = new AbortController();
      const { signal } = controller;
      const getting = [0, 1, 2].map(() => rejectionOf(get(cache, origin, { signal })));
      await vi.waitUntil(() => origin.requests.some(isPart), { timeout: 20_000 });
      controller.abort();
      for (const reason of await Promise.all(getting)) expect(reason).toBe(signal.reason);
      // A caller that arrives while the load ends starts a new one.
      const image = await get(cache, origin);
      expect(image.hit).toBe(false);
      await expectImage(image.path, sample);
      expect(await cache.stats()).toMatchObject({ fills: 1, misses: 1, failures: 1, leases: 1 });
      expect(readdirSync(join(directory, "filling"))).toEqual([]);
      await image.release();
      await cache.clear();

      const again = new AbortController();
      const last = rejectionOf(get(cache, origin, { signal: again.signal }));
      const parts = origin.requests.filter(isPart).length;
      await vi.waitUntil(() => origin.requests.filter(isPart).length > parts, { timeout: 20_000 });
      again.abort();
      await last;
      // Closing the cache waits for the cancelled load.
      await cache.close();
      expect(strayFiles(directory)).toEqual([]);
      await expectNoConnections(origin);
    },
  );

  testWay("reports progress to every caller", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": sample.snapshot }, SLOW);
    const reports: Progress[][] = [[], [], []];
    const getting = reports.map((list) =>
      get(cache, origin, { onProgress: (progress: Progress) => void list.push(progress) }),
    );
    await Promise.all(getting);
    for (const list of reports) {
      expect(list.length).toBeGreaterThan(1);
      expect(list.at(-1)).toMatchObject({ phase: "restore", bytes: 3 * MIB, totalBytes: 3 * MIB });
    }
    // A hit reports no progress.
    let isReported = false;
    await get(cache, origin, { onProgress: () => (isReported = true) });
    expect(isReported).toBe(false);
  });

  testWay("rejects all callers when a load fails, and retries for the next", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const origin = await originOf({ "/a.vhs": sample.snapshot });
    origin.faults = faultsOf(isPart, { status: 403 });
    const errors = await Promise.all(
      Array.from({ length: 25 }, () => refusalOf(get(cache, origin), "ERR_SOURCE")),
    );
    for (const error of errors) expect(error).toBe(errors[0]);
    expect(errors[0]!.status).toBe(403);
    expect(origin.requests.filter(isTail).length).toBe(1);
    expect(await cache.stats()).toMatchObject({ failures: 1, fills: 0, misses: 0, entries: 0 });
    origin.faults = undefined;
    await expectImage((await get(cache, origin)).path, sample);
    expect(strayFiles(directory)).toEqual([]);
  });

  testWay("lets a waiting cache try itself when the load of another one fails", async () => {
    const directory = newDirectory();
    const caches = [await openCache(directory), await openCache(directory)];
    const origin = await originOf({ "/a.vhs": sample.snapshot });
    origin.faults = faultsOf(isPart, { noAnswer: true });
    const first = refusalOf(get(caches[0]!, origin), "ERR_SOURCE");
    await vi.waitUntil(() => origin.requests.some(isPart), { timeout: 20_000 });
    const second = get(caches[1]!, origin);
    await vi.waitUntil(() => isWaiting(), { timeout: 20_000, interval: 1 });
    origin.faults = faultsOf(isPart, { status: 403 }, 1);
    // Pending requests are made again.
    await origin.refuse(20);
    expect((await first).status).toBe(403);
    await expectImage((await second).path, sample);
    expect(origin.requests.filter(isTail).length).toBe(2);
  });
});

test.each([1, 2])(
  "does not fail a request to another server for the same image: in %i caches",
  async (count) => {
    const directory = newDirectory();
    const caches = [await openCache(directory)];
    if (count === 2) caches.push(await openCache(directory));
    const [bad, good] = [
      await originOf({ "/a.vhs": sample.snapshot }),
      await originOf({ "/a.vhs": sample.snapshot }),
    ];
    let isAsked = false;
    bad.faults = faultsOf(isPart, () => {
      isAsked = true;
      return { status: 403, firstByte: 300 };
    });
    const options = { ...OPTIONS, digest: sample.digest };
    const failing = refusalOf(caches[0]!.get(bad.url("/a.vhs"), options), "ERR_SOURCE");
    await vi.waitUntil(() => isAsked, { timeout: 20_000 });
    const image = await caches.at(-1)!.get(good.url("/a.vhs"), options);
    expect((await failing).status).toBe(403);
    expect(image.hit).toBe(false);
    await expectImage(image.path, sample);
  },
);

test("shares one load among requests by digest, by URL and by path", async () => {
  const cache = await openCache(newDirectory());
  const origin = await originOf({ "/a.vhs": sample.snapshot });
  const images: CachedImage[] = await Promise.all([
    cache.get(origin.url("/a.vhs"), OPTIONS),
    cache.get(origin.url("/a.vhs"), { ...OPTIONS, digest: sample.digest }),
    cache.get(sample.snapshot),
  ]);
  expect(new Set(images.map(({ path: place }) => place)).size).toBe(1);
  expect(await cache.stats()).toMatchObject({ fills: 1, leases: 1, entries: 1 });
});

test("restores different images concurrently", async () => {
  const cache = await openCache(newDirectory());
  const other = await makeSample(path, "other", { data: 2 * MIB });
  const origin = await originOf({ "/a.vhs": sample.snapshot, "/b.vhs": other.snapshot });
  origin.faults = faultsOf((request) => request.path === "/a.vhs" && isPart(request), {
    noAnswer: true,
  });
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = rejectionOf(cache.get(origin.url("/a.vhs"), { ...OPTIONS, signal }));
  await vi.waitUntil(() => origin.requests.some(isPart), { timeout: 20_000 });
  const image = await cache.get(origin.url("/b.vhs"), OPTIONS);
  await expectImage(image.path, other);
  controller.abort();
  expect(await waiting).toBe(signal.reason);
});

test("rejects a damaged snapshot and keeps no image of it", async () => {
  const directory = newDirectory();
  const cache = await openCache(directory);
  const { snapshot } = await makeSample(path, "damaged");
  const bytes = readFileSync(snapshot);
  bytes[1000] = bytes[1000]! ^ 1;
  writeFileSync(snapshot, bytes);
  await refusalOf(cache.get(snapshot), "ERR_SNAPSHOT_FORMAT");
  expect(await cache.entries()).toEqual([]);
  expect(strayFiles(directory)).toEqual([]);
});
