/** Several who want one image at a time: it is restored once, for as long as anyone wants it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CachedImage, ImageCache, Progress } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test, vi } from "vitest";

import type { Origin } from "../../../../tests/origin/origin.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
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
import { openClaims } from "../support/claims.mjs";
import { refusalOf } from "../support/refusal.js";
import { expectNoConnections, faultsOf, isPart, isTail, originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let sample = {} as Sample;

/** Slow enough for others to come meanwhile. */
const SLOW = { conditions: { bytesPerSecond: 3e6 } };

/** Over one connection nothing is asked for twice because it is slow. */
const OPTIONS = { connections: 1, partSize: 256 * KIB };

beforeAll(async () => {
  sample = await makeSample(path, "image", { data: 3 * MIB });
});

/** Throws unless each byte of the sample's data was sent once; its end may have been besides. */
function expectFetchedOnce(origin: Origin): void {
  const parts = origin.requests.filter(isPart).map(({ range }) => range!);
  const sorted = parts.sort((first, second) => first.start - second.start);
  for (const [index, { start }] of sorted.entries()) {
    expect(start).toBeGreaterThanOrEqual(sorted[index - 1]?.end ?? 0);
  }
  expect(origin.requests.filter(isTail).length).toBe(1);
}

/** Whether someone looks for the claim that another one in this process has: from then on, it is waited for. */
function isSomeoneElseAtClaim(): boolean {
  const claims = openClaims();
  return new Set(claims).size < claims.length;
}

/** The places where someone may look for the sample at an origin. */
const WAYS = {
  "a URL": (origin: Origin) => ({ source: origin.url("/a.vhs"), digest: undefined }),
  "a digest": (origin: Origin) => ({ source: origin.url("/a.vhs"), digest: sample.digest }),
};

describe.each(Object.entries(WAYS))("by %s", (_, way) => {
  const get = (cache: ImageCache, origin: Origin, options = {}) => {
    const { source, digest } = way(origin);
    return cache.get(source, { ...OPTIONS, digest, ...options });
  };

  test("25 who ask get one image, which is fetched once", async () => {
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

  test("two who have the directory open fetch it once, and one waits", async () => {
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

  test("one who changes their mind does not keep others from it", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": sample.snapshot }, SLOW);
    const controllers = [0, 1, 2].map(() => new AbortController());
    const getting = controllers.map(({ signal }) => get(cache, origin, { signal }));
    await vi.waitUntil(() => origin.requests.some(isPart), { timeout: 20_000 });
    const reason = new Error("the caller's own");
    controllers[0]!.abort(reason);
    expect(await rejectionOf(getting[0]!)).toBe(reason);
    for (const image of await Promise.all(getting.slice(1))) await expectImage(image.path, sample);
    // Nobody is told of it who has their image.
    controllers[1]!.abort(reason);
    expect(await cache.stats()).toMatchObject({ fills: 1, misses: 2, failures: 0, leases: 1 });
    expectFetchedOnce(origin);
  });

  test("if nobody wants it any more, nothing stays of it, and the next one begins anew", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const origin = await originOf({ "/a.vhs": sample.snapshot }, SLOW);
    const controller = new AbortController();
    const { signal } = controller;
    const getting = [0, 1, 2].map(() => rejectionOf(get(cache, origin, { signal })));
    await vi.waitUntil(() => origin.requests.some(isPart), { timeout: 20_000 });
    controller.abort();
    for (const reason of await Promise.all(getting)) expect(reason).toBe(signal.reason);
    // Who comes while it ends waits for that, and does not end with it.
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
    // To close it is to wait for that.
    await cache.close();
    expect(strayFiles(directory)).toEqual([]);
    await expectNoConnections(origin);
  });

  test("one whose signal has been given gets nothing, and nothing is asked", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": sample.snapshot });
    const signal = AbortSignal.abort(new Error("the caller's own"));
    expect(await rejectionOf(get(cache, origin, { signal }))).toBe(signal.reason);
    expect(origin.requestCount).toBe(0);
  });

  test("each is told of the progress", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": sample.snapshot }, SLOW);
    const told: Progress[][] = [[], [], []];
    const getting = told.map((list) =>
      get(cache, origin, { onProgress: (progress: Progress) => void list.push(progress) }),
    );
    await Promise.all(getting);
    for (const list of told) {
      expect(list.length).toBeGreaterThan(1);
      expect(list.at(-1)).toMatchObject({ phase: "restore", bytes: 3 * MIB, totalBytes: 3 * MIB });
    }
    // There is none where nothing is restored.
    let isTold = false;
    await get(cache, origin, { onProgress: () => (isTold = true) });
    expect(isTold).toBe(false);
  });

  test("what one throws when it is told of the progress is theirs alone", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": sample.snapshot }, SLOW);
    const mine = new Error("mine");
    const onProgress = () => {
      throw mine;
    };
    const bad = rejectionOf(get(cache, origin, { onProgress }));
    const good = get(cache, origin);
    expect(await bad).toBe(mine);
    await expectImage((await good).path, sample);
    expect((await cache.stats()).fills).toBe(1);
  });

  test("if it fails, it fails for all, and the next one tries again", async () => {
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
    expect(strayFiles(directory).filter((name) => !name.endsWith(".failed"))).toEqual([]);
    await cache.close();
    const { directory: same } = await openCache(directory);
    expect(strayFiles(same)).toEqual([]);
  });

  test("if it fails, it fails for those who wait elsewhere, too, in the same words", async () => {
    const directory = newDirectory();
    const caches = [await openCache(directory), await openCache(directory)];
    const origin = await originOf({ "/a.vhs": sample.snapshot });
    origin.faults = faultsOf(isPart, { noAnswer: true });
    const first = refusalOf(get(caches[0]!, origin), "ERR_SOURCE");
    await vi.waitUntil(() => origin.requests.some(isPart), { timeout: 20_000 });
    const second = refusalOf(get(caches[1]!, origin), "ERR_SOURCE");
    await vi.waitUntil(() => isSomeoneElseAtClaim(), { timeout: 20_000, interval: 1 });
    origin.faults = faultsOf(isPart, { status: 403 });
    // Whoever has asked asks again.
    await origin.refuse(20);
    const [mine, theirs] = await Promise.all([first, second]);
    expect(theirs.message).toBe(mine.message);
    expect(theirs.status).toBe(403);
    expect(origin.requests.filter(isTail).length).toBe(1);
    origin.faults = undefined;
    await expectImage((await get(caches[1]!, origin)).path, sample);
  });
});

test.each([1, 2])(
  "who asks another server of the same image is not failed by the first: in %i caches",
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

test("one who knows what it is, one who knows where it is, and one who has it in a file share it", async () => {
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

test("images that are others are restored beside each other", async () => {
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

test("a snapshot that is damaged is told of, and no image is made of it", async () => {
  const directory = newDirectory();
  const cache = await openCache(directory);
  const { snapshot } = await makeSample(path, "damaged");
  const bytes = readFileSync(snapshot);
  bytes[1000] = bytes[1000]! ^ 1;
  writeFileSync(snapshot, bytes);
  await refusalOf(cache.get(snapshot), "ERR_SNAPSHOT_FORMAT");
  expect(await cache.entries()).toEqual([]);
  expect(strayFiles(directory).filter((name) => !name.endsWith(".failed"))).toEqual([]);
});
