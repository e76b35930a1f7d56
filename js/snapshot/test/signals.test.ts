/** Aborted signals, of every function that takes one: before the call, and during it. */
import { existsSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import {
  createSnapshot,
  type ImageCache,
  inspectSnapshot,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rejectionOf } from "../../../tests/support/assert.js";
import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { noise } from "../../../tests/support/snapshots/image.js";
import { libc } from "../dist/local/libc.js";
import {
  digestsIn,
  KIB,
  makeSample,
  newDirectories,
  openCache,
  type Sample,
} from "./support/cache.js";
import { originOf } from "./support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
const made = path("made");
/** `LOCK_EX | LOCK_NB` of `flock`. */
const LOCK_EX_NB = 2 | 4;

const reason = new Error("the caller's own");

let [sample, cache] = [{} as Sample, {} as ImageCache];

beforeAll(async () => {
  writeFileSync(path("image"), noise("image", 256 * KIB));
  sample = await makeSample(path, "sample");
});
beforeEach(async () => {
  cache = await openCache(newDirectory());
});
afterEach(() => {
  expect(existsSync(made)).toBe(false);
  expect(leftovers(path())).toEqual([]);
});

type Options = { readonly signal: AbortSignal };

/** Every function that takes a signal, called for a snapshot at a location. */
const calls: Readonly<
  Record<string, (source: string | URL, options: Options) => Promise<unknown>>
> = {
  createSnapshot: (location, options) =>
    createSnapshot(
      location instanceof URL ? path("image") : String(location),
      location instanceof URL ? location : made,
      options,
    ),
  "createSnapshot of a delta": (base, options) =>
    createSnapshot(path("image"), made, { ...options, base }),
  restoreSnapshot: (source, options) => restoreSnapshot(source, made, options),
  "restoreSnapshot with resume": (source, options) =>
    restoreSnapshot(source, made, { ...options, resume: true }),
  "restoreSnapshot with a cache": (source, options) =>
    restoreSnapshot(source, made, { ...options, cache }),
  inspectSnapshot,
  verifySnapshot,
  "ImageCache.get": (source, options) => cache.get(source, options),
  "ImageCache.has": (source, options) => cache.has(source, options),
  "ImageCache.delete": (source, options) => cache.delete(source, options),
  "ImageCache.verify": (_, { signal }) => cache.verify({ signal }),
};

describe.each(Object.entries(calls))("%s", (name, call) => {
  test(`${name} does nothing if its signal is aborted, and rejects with the reason`, async () => {
    const signal = AbortSignal.abort(reason);
    const origin = await originOf({ "/a.vhs": sample.snapshot });
    for (const location of [sample.snapshot, path("missing"), origin.url("/a.vhs")]) {
      expect(await rejectionOf(call(location, { signal }))).toBe(reason);
    }
    const s3 = { endpoint: origin.url().href, region: "nowhere" };
    const withKeys = {
      signal,
      s3: { ...s3, credentials: { accessKeyId: "a", secretAccessKey: "b" } },
    };
    expect(await rejectionOf(call(new URL("s3://bucket/key"), withKeys))).toBe(reason);
    expect(origin.requestCount).toBe(0);
    expect(digestsIn(cache.directory)).toEqual([]);
  });

  test(`${name} rejects with the reason of a signal that is aborted right after the call`, async () => {
    const controller = new AbortController();
    const rejection = rejectionOf(call(sample.snapshot, { signal: controller.signal }));
    controller.abort(reason);
    expect(await rejection).toBe(reason);
    expect(digestsIn(cache.directory)).toEqual([]);
  });
});

test.each(["ImageCache.verify", "ImageCache.delete"])(
  "%s stops waiting for the lock of the cache when its signal is aborted",
  async (name) => {
    await (await cache.get(sample.snapshot)).release();
    const system = await libc();
    const lock = await open(join(cache.directory, "hedgerow-cache"));
    try {
      expect(system?.flock(lock.fd, LOCK_EX_NB)).toBe(0);
      const controller = new AbortController();
      const options = { signal: controller.signal, digest: sample.digest };
      const rejection = rejectionOf(calls[name]!(sample.snapshot, options));
      controller.abort(reason);
      expect(await rejection).toBe(reason);
    } finally {
      await lock.close();
    }
    expect(digestsIn(cache.directory)).toEqual([sample.digest]);
  },
);

test("an aborted signal leaves the cached image in place", async () => {
  await (await cache.get(sample.snapshot)).release();
  const signal = AbortSignal.abort(reason);
  for (const options of [{ signal }, { signal, digest: sample.digest }]) {
    expect(await rejectionOf(cache.delete(sample.snapshot, options))).toBe(reason);
    expect(await rejectionOf(cache.get(sample.snapshot, options))).toBe(reason);
    expect(await rejectionOf(cache.has(sample.snapshot, options))).toBe(reason);
  }
  expect(await rejectionOf(cache.verify({ signal }))).toBe(reason);
  expect(digestsIn(cache.directory)).toEqual([sample.digest]);
  expect(existsSync(join(cache.directory, "excess"))).toBe(false);
});
