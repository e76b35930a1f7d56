/** Images of deltas in a cache: made from the image of a base that is cached, and fetched otherwise. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import {
  type CacheOptions,
  createSnapshot,
  ImageCache,
  inspectSnapshot,
  restoreSnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test, vi } from "vitest";

import type { Origin } from "../../../../tests/origin/origin.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import {
  copyCache,
  digestsIn,
  expectImage,
  filesIn,
  imageIn,
  KIB,
  MIB,
  makeSample,
  newDirectories,
  openCache,
  recordIn,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { makeDelta, pathsOf, sentOf, write } from "../support/cached-deltas.js";
import { forgeDelta } from "../support/deltas.js";
import { recordEvents } from "../support/events.js";
import { extentsOf } from "../support/extents.js";
import { refusalOf } from "../support/refusal.js";
import { expectNoConnections, isPart, originOf } from "../support/remote.js";
import { manifestOf } from "../support/resume-state.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);

/** A base, a delta of it, and a delta of that. */
let [base, first, second] = [{} as Sample, {} as Sample, {} as Sample];

/** Over one connection, no request is hedged. */
const OPTIONS = { workers: 1, connections: 1, partSize: 256 * KIB };

/** The length of a piece of these images, in bytes. */
const PIECE = 64 * KIB;

/** Length of changed data that does not fit into the request for the end of a delta, in bytes. */
const MUCH = MIB;

beforeAll(async () => {
  base = await makeSample(path, "base", { data: 4 * MIB });
  // One block of a piece, then whole pieces.
  first = await makeDelta(base, "first", [
    write("block", 5 * PIECE + 8 * KIB, 4 * KIB),
    write("first", MIB, MUCH),
  ]);
  second = await makeDelta(first, "second", [write("second", 2 * MIB + 16 * KIB, MUCH)]);
  const cache = await ImageCache.open(path("filled"), { maxBytes: 64 * MIB });
  await put(cache, base);
  await cache.close();
});

/** Starts an origin that serves all three. */
const startOrigin = (options: Parameters<typeof originOf>[1] = {}) =>
  originOf(
    { "/base.vhs": base.snapshot, "/first.vhs": first.snapshot, "/second.vhs": second.snapshot },
    options,
  );

/** Opens a cache with the image of the base: a copy, which is cheaper than to restore it again. */
async function openWithBase(options: Partial<CacheOptions> = {}): Promise<ImageCache> {
  const directory = newDirectory();
  copyCache(path("filled"), directory);
  return openCache(directory, options);
}

/** Gets the image of a sample, and releases it. */
async function put(cache: ImageCache, { snapshot, digest }: Sample): Promise<void> {
  await (await cache.get(snapshot, { digest, workers: 1 })).release();
}

/** Gets an image, checks it, and releases it. */
async function expectGot(
  cache: ImageCache,
  source: string | URL,
  sample: Sample,
  options: Parameters<ImageCache["get"]>[1] = {},
): Promise<void> {
  const image = await cache.get(source, { ...OPTIONS, ...options });
  await expectImage(image.path, sample);
  expect(image).toMatchObject({ hit: false, info: { digest: sample.digest } });
  await image.release();
}

/**
 * The ways to get an image: into the cache, or as a copy with a name. `npm test` tries one of them, which is not the
 * same for all tests, and `npm run verify` both.
 */
const waysFrom = (first: 0 | 1, copy: string) =>
  [undefined, copy, undefined].slice(first, first + trials({ few: 1, all: 2 }));

const sorted = (...samples: readonly Sample[]) => samples.map(({ digest }) => digest).sort();

/** Changes a byte of an image in a cache. */
async function damage(path: string, offset: number): Promise<void> {
  chmodSync(path, 0o600);
  const file = await open(path, "r+");
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, offset);
  await file.write(Buffer.of(buffer[0]! ^ 1), 0, 1, offset);
  await file.close();
  chmodSync(path, 0o400);
}

describe("a cached base", () => {
  test("a cached base saves all requests but those for the end and the frames of the delta", async () => {
    const cache = await openWithBase();
    const origin = await startOrigin();
    const fills = recordEvents("hedgerow:cache:fill");
    await expectGot(cache, origin.url("/first.vhs"), first);
    expect(pathsOf(origin)).toEqual(["/first.vhs"]);
    // A frame that begins before the end is fetched whole.
    expect(origin.bytesSent).toBeGreaterThanOrEqual(first.fileSize - 100);
    expect(origin.bytesSent).toBeLessThanOrEqual(first.fileSize + PIECE + 100);
    expect(fills).toMatchObject([{ digest: first.digest }]);
    expect(digestsIn(cache.directory)).toEqual(sorted(base, first));
    expect(await cache.verify()).toEqual({ good: 2, damaged: [] });
    expect(await cache.stats()).toMatchObject({ hits: 0, misses: 1, fills: 1, leases: 0 });
    const [entry] = await cache.entries();
    expect(entry).toMatchObject({ digest: first.digest, source: origin.url("/first.vhs").href });
    // A hit needs no request.
    const { requestCount } = origin;
    const { digest } = first;
    const again = await cache.get(origin.url("/first.vhs"), { digest });
    expect(again.hit).toBe(true);
    expect(origin.requestCount).toBe(requestCount);
    expect(strayFiles(cache.directory).filter((name) => !name.endsWith(".lease"))).toEqual([]);
    await expectNoConnections(origin);
  });

  test("the latest cached delta of a chain is preferred to its base", async () => {
    const cache = await openWithBase();
    const origin = await startOrigin();
    await expectGot(cache, origin.url("/second.vhs"), second);
    expect(pathsOf(origin)).toEqual(["/first.vhs", "/second.vhs"]);
    expect(digestsIn(cache.directory)).toEqual(sorted(base, second));

    await cache.delete(second.snapshot, { digest: second.digest });
    await put(cache, first);
    const { length } = origin.requests;
    await expectGot(cache, origin.url("/second.vhs"), second);
    expect(pathsOf({ ...origin, requests: origin.requests.slice(length) } as Origin)).toEqual([
      "/second.vhs",
    ]);
    expect(await cache.verify()).toEqual({ good: 3, damaged: [] });
  });

  test.each([
    ["grown", (bytes: Buffer) => Buffer.concat([bytes, bytes.subarray(0, 100 * KIB + 7)])],
    ["shrunk", (bytes: Buffer) => bytes.subarray(0, 2 * MIB + 9 * KIB + 5)],
    ["empty", () => Buffer.alloc(0)],
    ["all zeros", (bytes: Buffer) => Buffer.alloc(bytes.length)],
  ])("becomes an image that is %s", async (name, change) => {
    const cache = await openWithBase();
    const delta = await makeDelta(base, `${name} delta`, [change]);
    await expectGot(cache, delta.snapshot, delta);
    expect((await inspectSnapshot(delta.snapshot)).delta?.depth).toBe(1);
    await expectImage(
      (await cache.get(delta.snapshot, { workers: 1, copyTo: path("copy") })).path,
      delta,
    );
    expect(await cache.verify()).toEqual({ good: 2, damaged: [] });
  });

  test("a cached base with hardly any data of a delta is not copied", async () => {
    const cache = await openWithBase();
    const delta = await makeDelta(base, "replaced", [write("replaced", 0, 3.75 * MIB)]);
    const copyTo = path("replaced copy");
    await cache.get(delta.snapshot, { workers: 1, copyTo });
    await expectImage(copyTo, delta);
    // Restored like a full snapshot: into the cache first.
    expect(digestsIn(cache.directory)).toEqual(sorted(base, delta));
    expect(await cache.stats()).toMatchObject({ fills: 1, leases: 0 });
  });

  test("blocks that became zeros are holes in the copy of a cached base", async () => {
    const cache = await openWithBase();
    const delta = await makeDelta(base, "zeros", [
      (bytes) => bytes.fill(0, MIB, 2 * MIB),
      (bytes) => bytes.fill(0, 3 * MIB + 4 * KIB, 3 * MIB + 12 * KIB),
    ]);
    const copyTo = path("copy");
    await cache.get(delta.snapshot, { workers: 1, copyTo });
    await expectGot(cache, delta.snapshot, delta);
    for (const image of [copyTo, imageIn(cache.directory, delta.digest)]) {
      expect(await extentsOf(image)).toEqual([
        { start: 0, end: MIB },
        { start: 2 * MIB, end: 3 * MIB + 4 * KIB },
        { start: 3 * MIB + 12 * KIB, end: 4 * MIB },
      ]);
    }
  });

  test.each(["first", "second"])(
    "a cached base is found for %s without a digest, and at a URL",
    async (name) => {
      const cache = await openWithBase();
      const origin = await startOrigin();
      const delta = name === "first" ? first : second;
      await expectGot(cache, origin.url(`/${name}.vhs`), delta);
      expect(sentOf(origin, "/base.vhs")).toBe(0);
      // The image counts as that of its own snapshot from then on.
      await cache.delete(base.snapshot, { digest: base.digest });
      expect(await cache.has(origin.url(`/${name}.vhs`))).toBe(true);
      expect(await cache.verify()).toEqual({ good: 1, damaged: [] });
    },
  );
});

describe("copies", () => {
  test.each(["copyTo", "restoreSnapshot"])(
    "%s makes a copy of a cached base, and adds no image to the cache",
    async (way) => {
      const cache = await openWithBase();
      const origin = await startOrigin();
      const [url, target] = [origin.url("/first.vhs"), path(`by ${way}`)];
      const events = recordEvents("hedgerow:cache:get");
      const { info, hit } =
        way === "copyTo"
          ? await cache.get(url, { ...OPTIONS, copyTo: target })
          : await restoreSnapshot(url, target, { ...OPTIONS, cache }).then(
              ({ hit, duration: _, ...info }) => ({ hit, info }),
            );
      expect(info).toEqual(await inspectSnapshot(first.snapshot));
      expect(hit).toBe(false);
      await expectImage(target, first);
      expect(pathsOf(origin)).toEqual(["/first.vhs"]);
      expect(events).toMatchObject([{ digest: first.digest, hit: false }]);
      expect(digestsIn(cache.directory)).toEqual(sorted(base));
      expect(await cache.stats()).toMatchObject({ misses: 1, fills: 0, leases: 0 });
      expect(strayFiles(cache.directory)).toEqual([]);
    },
  );

  test("concurrent copies share the image of the base", async () => {
    const cache = await openCache(newDirectory());
    const origin = await startOrigin();
    const targets = [0, 1, 2, 3].map((number) => path(`shared-${number}`));
    await Promise.all(
      targets.map((copyTo, number) =>
        cache.get(origin.url(number % 2 === 0 ? "/first.vhs" : "/second.vhs"), {
          ...OPTIONS,
          copyTo,
        }),
      ),
    );
    for (const [number, target] of targets.entries())
      await expectImage(target, number % 2 === 0 ? first : second);
    expect(digestsIn(cache.directory)).toEqual(sorted(base));
    expect(await cache.stats()).toMatchObject({ fills: 1, leases: 0 });
    expect(sentOf(origin, "/base.vhs")).toBeLessThanOrEqual(base.fileSize + PIECE);
  });

  test("a copy of a delta leaves an existing file if it may not be replaced", async () => {
    const cache = await openWithBase();
    writeFileSync(path("old"), "old");
    const options = { copyTo: path("old"), overwrite: false };
    await refusalOf(cache.get(first.snapshot, options), "ERR_TARGET");
    expect(readFileSync(path("old"), "utf8")).toBe("old");
  });

  test.each([true, false])(
    "a copy does not replace a base object: the delta is cached: %s",
    async (isHit) => {
      const cache = await openWithBase();
      if (isHit) await put(cache, first);
      const before = readFileSync(base.snapshot);
      const call = cache.get(first.snapshot, { ...OPTIONS, copyTo: base.snapshot });
      await refusalOf(call, "ERR_ARGUMENT");
      expectSame(readFileSync(base.snapshot), before);
      expect((await cache.stats()).leases).toBe(0);
    },
  );

  test("a copy comes from the image of the delta if that is cached", async () => {
    const cache = await openWithBase();
    await put(cache, first);
    const { snapshot, digest } = first;
    const copy = await cache.get(snapshot, { digest, copyTo: path("own") });
    expect(copy.hit).toBe(true);
    await expectImage(copy.path, first);
  });
});

describe("a base that is not cached", () => {
  /** Uses less than half of the base. */
  let small = {} as Sample;

  beforeAll(async () => {
    small = await makeDelta(base, "small", [write("small", 0, 2.5 * MIB)]);
  });

  test.each([
    ["cached first for a delta that uses most of it", "first", true],
    ["not cached for a delta that uses little of it", "small", false],
  ] as const)("is %s", async (_, name, isKept) => {
    const cache = await openCache(newDirectory());
    const delta = name === "first" ? first : small;
    const origin = await originOf({ "/base.vhs": base.snapshot, "/delta.vhs": delta.snapshot });
    await expectGot(cache, origin.url("/delta.vhs"), delta);
    expect(digestsIn(cache.directory)).toEqual(isKept ? sorted(base, delta) : sorted(delta));
    const sent = sentOf(origin, "/base.vhs");
    if (isKept) expect(sent).toBeGreaterThanOrEqual(base.fileSize - 100);
    else expect(sent).toBeLessThan(base.fileSize);
    expect(await cache.verify()).toEqual({ good: isKept ? 2 : 1, damaged: [] });
    expect(await cache.stats()).toMatchObject({ fills: isKept ? 2 : 1, leases: 0 });
    // A copy adds only the image that it is made from.
    await cache.clear();
    await cache.get(origin.url("/delta.vhs"), { ...OPTIONS, copyTo: path("kept") });
    await expectImage(path("kept"), delta);
    expect(digestsIn(cache.directory)).toEqual(isKept ? sorted(base) : sorted(delta));
  });

  test("is the object with most of the data of a chain", async () => {
    const cache = await openCache(newDirectory());
    await expectGot(cache, second.snapshot, second);
    expect(digestsIn(cache.directory)).toEqual(sorted(base, second));
  });

  test("of deltas that each need most of the one before restores one base, not all of them", async () => {
    const chain = [base];
    for (const [at, name] of ["a", "b", "c", "d"].entries())
      chain.push(
        await makeDelta(chain.at(-1)!, `chain-${name}`, [write(name, 0.75 * at * MIB, 0.75 * MIB)]),
      );
    const cache = await openCache(newDirectory());
    const [previous, last] = chain.slice(-2) as [Sample, Sample];
    const resolve = (digest: string) => chain.find((one) => one.digest === digest)?.snapshot;
    // The previous delta has the most data, because it stores that of the base again.
    await expectGot(cache, last.snapshot, last, { resolve });
    expect(digestsIn(cache.directory)).toEqual(sorted(previous, last));
  });
});

describe("damage in a cached base", () => {
  test("verification finds damage that was copied from a base into the image of a delta", async () => {
    const cache = await openWithBase();
    await damage(imageIn(cache.directory, base.digest), 10 * PIECE + 77);
    await put(cache, first);
    const { good, damaged } = await cache.verify();
    expect([good, [...damaged].sort()]).toEqual([0, sorted(base, first)]);
    await expectGot(cache, first.snapshot, first);
  });

  test.each([
    ["that the delta has", 5 * PIECE + 100],
    ["that the delta has replaced", 5 * PIECE + 8 * KIB + 100],
  ])(
    "damage in a frame of a base is not copied if the delta uses a part of it, in a block %s",
    async (_, at) => {
      const cache = await openWithBase();
      await damage(imageIn(cache.directory, base.digest), at);
      await expectGot(cache, first.snapshot, first);
      expect(await cache.verify()).toEqual({ good: 1, damaged: [base.digest] });
    },
  );

  test.each(waysFrom(0, "sound"))(
    "a damaged record of a base is noticed: copy %s",
    async (copy) => {
      const cache = await openWithBase();
      await damage(recordIn(cache.directory, base.digest), 2000);
      const copyTo = copy && path(copy);
      await expectGot(cache, first.snapshot, first, { copyTo });
      expect((await cache.verify()).damaged).toEqual([base.digest]);
    },
  );
});

describe("space", () => {
  /** Space for one image of 4 MiB, and not for two. */
  const ONE = { maxBytes: 6 * MIB };

  test.each([true, false])(
    "a delta does without its base if there is no room for both, base cached before: %s",
    async (isCached) => {
      const cache = await (isCached ? openWithBase(ONE) : openCache(newDirectory(), ONE));
      await expectGot(cache, first.snapshot, first);
      expect(digestsIn(cache.directory)).toContain(first.digest);
      expect(await cache.stats()).toMatchObject({ excessBytes: 0, leases: 0 });
      expect(await cache.verify()).toMatchObject({ damaged: [] });
    },
  );

  test("a delta whose image is larger than the cache is refused", async () => {
    const cache = await openCache(newDirectory(), { maxBytes: 3 * MIB });
    await refusalOf(cache.get(first.snapshot), "ERR_CACHE_SIZE");
    const copyTo = path("too large");
    await refusalOf(cache.get(first.snapshot, { copyTo }), "ERR_CACHE_SIZE");
    expect(existsSync(copyTo)).toBe(false);
    expect(digestsIn(cache.directory)).toEqual([]);
    expect((await cache.stats()).leases).toBe(0);
  });

  test("a base that is smaller than the cache serves a delta that is larger", async () => {
    const cache = await openWithBase(ONE);
    const grown = await makeDelta(base, "large", [
      (bytes) => Buffer.concat([bytes, bytes.subarray(0, 3 * MIB)]),
    ]);
    await refusalOf(cache.get(grown.snapshot), "ERR_CACHE_SIZE");
    // The copy is not in the cache.
    await expectImage(
      (await cache.get(grown.snapshot, { copyTo: path("large copy") })).path,
      grown,
    );
    expect(digestsIn(cache.directory)).toEqual(sorted(base));
  });
});

describe("while a delta is restored", () => {
  const SLOW = { conditions: { bytesPerSecond: 3e6 } };

  /** Begins to get the first delta, from a cached base, and waits for a request for its frames. */
  async function begin(options: Parameters<ImageCache["get"]>[1] = {}) {
    const cache = await openWithBase();
    const origin = await startOrigin(SLOW);
    const getting = cache.get(origin.url("/first.vhs"), { ...OPTIONS, ...options });
    getting.catch(() => {});
    await vi.waitUntil(() => origin.requests.some(isPart), { timeout: 20_000, interval: 1 });
    return { cache, origin, getting };
  }

  test.each(waysFrom(0, "copy"))(
    "the base is not evicted while a delta is restored: copy %s",
    async (copy) => {
      const copyTo = copy && path(copy);
      const { cache, getting } = await begin({ copyTo });
      const other = await openCache(cache.directory);
      for (const each of [cache, other]) {
        expect(await each.prune(0)).toEqual({ images: 0, bytes: 0 });
        expect(digestsIn(cache.directory)).toEqual(sorted(base));
      }
      await expectImage((await getting).path, first);
      expect((await other.prune(0)).images).toBe(1);
    },
  );

  test.each(waysFrom(1, "copy"))(
    "the base may be deleted while a delta is restored: copy %s",
    async (copy) => {
      const { cache, getting } = await begin({ copyTo: copy && path(copy) });
      expect(await cache.delete(base.snapshot, { digest: base.digest })).toBe(true);
      await expectImage((await getting).path, first);
      await (await getting).release();
      const { damaged } = await cache.verify();
      expect(damaged).toEqual([]);
      expect(await cache.has(base.snapshot, { digest: base.digest })).toBe(false);
      expect(strayFiles(cache.directory)).toEqual([]);
    },
  );

  test.each(waysFrom(0, "aborted"))(
    "an abort of a delta leaves the base only: copy %s",
    async (copy) => {
      const controller = new AbortController();
      const { signal } = controller;
      const copyTo = copy && path(copy);
      const { cache, origin, getting } = await begin({ signal, copyTo });
      controller.abort(new Error("the caller's own"));
      expect(await rejectionOf(getting)).toBe(signal.reason);
      await vi.waitUntil(async () => (await cache.stats()).leases === 0, { timeout: 20_000 });
      expect(digestsIn(cache.directory)).toEqual(sorted(base));
      if (copyTo !== undefined) expect(existsSync(copyTo)).toBe(false);
      await cache.close();
      expect(strayFiles(cache.directory)).toEqual([]);
      await expectNoConnections(origin);
    },
  );
});

test.each(waysFrom(1, "nothing"))(
  "an abort while the base is restored leaves nothing: copy %s",
  async (copy) => {
    const cache = await openCache(newDirectory());
    const origin = await startOrigin({ conditions: { bytesPerSecond: 3e6 } });
    const controller = new AbortController();
    const { signal } = controller;
    const copyTo = copy && path(copy);
    const options = { ...OPTIONS, signal, copyTo };
    const getting = rejectionOf(cache.get(origin.url("/first.vhs"), options));
    const isBase = ({ path: asked }: { path: string }) => asked === "/base.vhs";
    await vi.waitUntil(() => origin.requests.filter(isBase).some(isPart), { timeout: 20_000 });
    controller.abort();
    expect(await getting).toBe(signal.reason);
    if (copyTo !== undefined) expect(existsSync(copyTo)).toBe(false);
    await cache.close();
    expect(filesIn(join(cache.directory, "images"))).toEqual([]);
    expect(strayFiles(cache.directory)).toEqual([]);
    await expectNoConnections(origin);
  },
);

describe("concurrent requests for deltas of one base", () => {
  test("concurrent requests for deltas restore their base once, and each delta once", async () => {
    const cache = await openCache(newDirectory());
    const origin = await startOrigin({ conditions: { bytesPerSecond: 20e6 } });
    const wanted = Array.from({ length: 12 }, (_, number) => {
      return number % 2 === 0
        ? (["/first.vhs", first] as const)
        : (["/second.vhs", second] as const);
    });
    const images = await Promise.all(
      wanted.map(([name]) => cache.get(origin.url(name), { ...OPTIONS })),
    );
    for (const [number, image] of images.entries()) {
      await expectImage(image.path, wanted[number]![1]);
      await image.release();
    }
    expect(await cache.stats()).toMatchObject({ fills: 3, misses: 12, leases: 0 });
    expect(sentOf(origin, "/base.vhs")).toBeLessThanOrEqual(base.fileSize + PIECE);
    expect(digestsIn(cache.directory)).toEqual(sorted(base, first, second));
  });
});

describe("the server of a base", () => {
  test.each([
    ["is missing", undefined, { code: "ERR_SOURCE", status: 404 }],
    ["is another snapshot", "other", { code: "ERR_SNAPSHOT_DIGEST" }],
  ] as const)("an object that %s is an error that names it", async (_, other, expected) => {
    const cache = await openCache(newDirectory());
    const files = { "/first.vhs": first.snapshot };
    const wrong = other && (await makeSample(path, other, { data: MIB })).snapshot;
    const origin = await originOf({ ...files, ...(wrong && { "/base.vhs": wrong }) });
    const error = await refusalOf(cache.get(origin.url("/first.vhs"), OPTIONS), expected.code);
    expect(error).toMatchObject(expected);
    expect(error.message).toContain(origin.url("/base.vhs").href);
    expect(digestsIn(cache.directory)).toEqual([]);
    expect(strayFiles(cache.directory)).toEqual([]);
    // A later call tries again.
    origin.set("/base.vhs", base.snapshot);
    await expectGot(cache, origin.url("/first.vhs"), first);
  });

  test("a base is fetched from where resolve says, without the headers of the delta", async () => {
    const [near, far] = [await startOrigin(), await startOrigin()];
    near.faults = ({ headers }) =>
      headers.authorization === "token" ? undefined : { status: 401 };
    const asked: string[] = [];
    const options = {
      headers: { authorization: "token" },
      resolve: (digest: string) => {
        asked.push(digest);
        return far.url("/base.vhs");
      },
    };
    const cache = await openCache(newDirectory());
    await expectGot(cache, near.url("/first.vhs"), first, options);
    expect(digestsIn(cache.directory)).toEqual(sorted(base, first));
    expect(pathsOf(near)).toEqual(["/first.vhs"]);
    expect(pathsOf(far)).toEqual(["/base.vhs"]);
    expect(far.requests.filter(({ headers }) => "authorization" in headers)).toEqual([]);
    expect(new Set(asked)).toEqual(new Set([base.digest]));
  });

  test("the server of a base does not get the headers of the delta by way of a delta in a file", async () => {
    const [near, far] = [await startOrigin(), await startOrigin()];
    const most = await makeDelta(base, "most", [write("most", 0, 3 * MIB)]);
    const last = await makeDelta(most, "last", [write("last", 0, PIECE)]);
    near.set("/last.vhs", last.snapshot);
    const cache = await openCache(newDirectory());
    await expectGot(cache, near.url("/last.vhs"), last, {
      headers: { authorization: "token" },
      resolve: (digest) => (digest === most.digest ? most.snapshot : far.url("/base.vhs")),
    });
    expect(digestsIn(cache.directory)).toEqual(sorted(most, last));
    expect(near.requests.every(({ headers }) => headers.authorization === "token")).toBe(true);
    expect(far.requests.length).toBeGreaterThan(0);
    expect(far.requests.filter(({ headers }) => "authorization" in headers)).toEqual([]);
  });

  test("an error of resolve ends the call, and a cached base needs no resolve", async () => {
    const cache = await openCache(newDirectory());
    const reason = new Error("the caller's own");
    const resolve = () => Promise.reject(reason);
    const getting = cache.get(first.snapshot, { resolve, workers: 1 });
    expect(await rejectionOf(getting)).toBe(reason);
    // It is not called for a cached base.
    await put(cache, base);
    await expectGot(cache, first.snapshot, first, { resolve });
  });

  test("the server of a base is not needed once the base is cached", async () => {
    const cache = await openWithBase();
    const origin = await originOf({ "/first.vhs": first.snapshot });
    await expectGot(cache, origin.url("/first.vhs"), first);
  });
});

test("an attacker's delta that names a cached base has the data of its own digests", async () => {
  const noises = noise("named", 2 * PIECE);
  writeFileSync(path("named.img"), noises);
  await createSnapshot(path("named.img"), path("named.vhs"), { workers: 1, pieceSize: PIECE });
  const bytes = readFileSync(path("named.vhs"));
  const { info, frames } = await manifestOf(path("named.vhs"));
  // Another file has the frames of the base in another order, and the delta names it like the base.
  const [[start, length], [next]] = [0, 1].map((at) => [
    frames.fileOffset(at),
    frames.compressedLength(at),
  ]) as [[number, number], [number, number]];
  const swapped = [bytes.subarray(next, next + length), bytes.subarray(start, start + length)];
  const forged = swapped.map((frame, at) => {
    return { object: 1, fileOffset: start + at * length, rawLength: PIECE, bytes: frame };
  });
  const identity = Buffer.from(info.digest, "hex");
  const objects = [{ identity, size: bytes.length, reference: "other.vhs" }];
  writeFileSync(path("forged.vhs"), forgeDelta({ objects, frames: forged }));
  const front = bytes.subarray(0, start);
  const rest = bytes.subarray(start + 2 * length);
  writeFileSync(path("other.vhs"), Buffer.concat([front, ...swapped, rest]));

  const cache = await openCache(newDirectory());
  await (await cache.get(path("named.vhs"), { workers: 1 })).release();
  const image = await cache.get(path("forged.vhs"), { workers: 1 });
  const expected = Buffer.concat([noises.subarray(PIECE), noises.subarray(0, PIECE)]);
  expectSame(readFileSync(image.path), expected);
  await image.release();
});

test("a delta that was replaced while its base was copied is not mixed with the new one", async () => {
  const cache = await openWithBase();
  const origin = await startOrigin();
  let tails = 0;
  origin.faults = ({ path: asked }) => {
    if (asked !== "/first.vhs") return undefined;
    tails += 1;
    if (tails === 1) origin.set("/first.vhs", second.snapshot);
    return undefined;
  };
  const copyTo = path("replaced");
  rmSync(copyTo, { force: true });
  const error = await rejectionOf(cache.get(origin.url("/first.vhs"), { ...OPTIONS, copyTo }));
  expect(error).toMatchObject({ code: "ERR_SOURCE_CHANGED" });
  expect(existsSync(copyTo)).toBe(false);
  expect((await cache.stats()).leases).toBe(0);
});
