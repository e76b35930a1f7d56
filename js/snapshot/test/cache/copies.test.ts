/** Private copies of images in a cache, by `copyTo` and by `restoreSnapshot`. */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { inspectSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { bytesOnDisk } from "../../../../tests/support/snapshots/image.js";
import {
  digestsIn,
  expectImage,
  imageIn,
  KIB,
  MIB,
  makeSamples,
  newDirectories,
  openCache,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { extentsOf } from "../support/extents.js";
import { refusalOf } from "../support/refusal.js";
import { originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let [one, other] = [{} as Sample, {} as Sample];

beforeAll(async () => {
  const layout = { data: 512 * KIB, size: 64 * MIB, stride: 8 * MIB };
  [one, other] = (await makeSamples(path, ["one", "other"], layout)) as [Sample, Sample];
});

/** A folder for copies. */
const copies = (name = "") => path("copies", name);

beforeEach(() => {
  rmSync(copies(), { recursive: true, force: true });
  mkdirSync(copies());
});

describe("copyTo", () => {
  test("makes a private sparse copy", async () => {
    const cache = await openCache(newDirectory());
    const before = process.umask(0);
    try {
      for (const hit of [false, true]) {
        const copyTo = copies(`image-${hit}`);
        const copy = await cache.get(one.snapshot, { copyTo });
        expect(copy).toMatchObject({ hit, path: copyTo, info: { digest: one.digest } });
        await expectImage(copyTo, one);
        expect(lstatSync(copyTo).mode & 0o777).toBe(0o600);
        expect(bytesOnDisk(copyTo)).toBeLessThan(MIB);
        expect(await extentsOf(copyTo)).toEqual(await extentsOf(one.image));
      }
    } finally {
      process.umask(before);
    }
    expect(readdirSync(copies()).sort()).toEqual(["image-false", "image-true"]);
  });

  test("makes copies that are independent of the cache and of each other", async () => {
    const cache = await openCache(newDirectory());
    const [first, second] = await Promise.all(
      ["first", "second"].map((name) => cache.get(one.snapshot, { copyTo: copies(name) })),
    );
    expect(await cache.stats()).toMatchObject({ leases: 0, fills: 1 });
    const file = openSync(first!.path, "r+");
    writeSync(file, "mine", 0);
    writeSync(file, "mine", 5 * MIB);
    closeSync(file);
    await expectImage(second!.path, one);
    await expectImage(imageIn(cache.directory, one.digest), one);
    expect(await cache.verify()).toEqual({ good: 1, damaged: [] });
    await first!.release();
    await first!.release();
    expect(await cache.clear()).toBe(1);
    await cache.close();
    await second![Symbol.asyncDispose]();
    await expectImage(second!.path, one);
    expect(readFileSync(first!.path).toString("latin1", 0, 4)).toBe("mine");
  });

  test("replaces a file, unless overwrite is false", async () => {
    const cache = await openCache(newDirectory());
    const copyTo = copies("image");
    writeFileSync(copyTo, "old");
    chmodSync(copyTo, 0o644);
    const error = await refusalOf(
      cache.get(one.snapshot, { copyTo, overwrite: false }),
      "ERR_TARGET",
    );
    expect(error.message).toContain(copyTo);
    expect(readFileSync(copyTo, "utf8")).toBe("old");
    // The call fails before anything is restored.
    expect(await cache.stats()).toMatchObject({ misses: 0, fills: 0, leases: 0, entries: 0 });
    await (await cache.get(one.snapshot)).release();
    symlinkSync(copyTo, copies("link"));
    const copy = await cache.get(one.snapshot, { copyTo: copies("link") });
    expect(copy.hit).toBe(true);
    expect(lstatSync(copies("link")).isSymbolicLink()).toBe(true);
    await expectImage(copyTo, one);
    expect(statSync(copyTo).mode & 0o777).toBe(0o600);
    expect(readdirSync(copies()).sort()).toEqual(["image", "link"]);
  });

  test.each([
    ["a folder", () => copies()],
    ["in a missing folder", () => copies("missing/image")],
    ["a device", () => "/dev/null"],
  ])("refuses a target that is %s", async (_, place) => {
    const cache = await openCache(newDirectory());
    const error = await refusalOf(cache.get(one.snapshot, { copyTo: place() }), "ERR_TARGET");
    expect(error.message).toContain(place());
    expect(await cache.stats()).toMatchObject({ leases: 0, entries: 0 });
    expect(readdirSync(copies())).toEqual([]);
  });

  test("refuses the snapshot itself as the target", async () => {
    const cache = await openCache(newDirectory());
    const snapshot = copies("own.vhs");
    copyFileSync(one.snapshot, snapshot);
    const before = readFileSync(snapshot);
    await refusalOf(cache.get(snapshot, { copyTo: snapshot }), "ERR_ARGUMENT");
    await refusalOf(restoreSnapshot(snapshot, snapshot, { cache }), "ERR_ARGUMENT");
    await (await cache.get(snapshot)).release();
    await refusalOf(restoreSnapshot(snapshot, snapshot, { cache }), "ERR_ARGUMENT");
    expect(readFileSync(snapshot).equals(before)).toBe(true);
  });

  test("refuses a target in the directory of the cache", async () => {
    const cache = await openCache(newDirectory());
    symlinkSync(cache.directory, copies("link"));
    for (const folder of [cache.directory, join(cache.directory, "images"), copies("link")]) {
      const copyTo = join(folder, "image");
      const error = await refusalOf(cache.get(one.snapshot, { copyTo }), "ERR_ARGUMENT");
      expect(error.message).toContain("outside the cache");
      expect(existsSync(copyTo)).toBe(false);
    }
    expect(await cache.entries()).toEqual([]);
    // A folder whose name only begins the same is accepted.
    const beside = `${cache.directory}-copy`;
    await expectImage((await cache.get(one.snapshot, { copyTo: beside })).path, one);
  });

  test("cancels a copy, and leaves no files", async () => {
    const cache = await openCache(newDirectory());
    const image = await cache.get(one.snapshot);
    const controller = new AbortController();
    const { signal } = controller;
    const copying = rejectionOf(cache.get(one.snapshot, { copyTo: copies("image"), signal }));
    controller.abort();
    expect(await copying).toBe(signal.reason);
    expect(readdirSync(copies())).toEqual([]);
    expect((await cache.stats()).leases).toBe(1);
    await expectImage(image.path, one);
  });

  test("restores an image that was truncated while in use before it copies it", async () => {
    const cache = await openCache(newDirectory());
    const image = await cache.get(one.snapshot);
    chmodSync(image.path, 0o600);
    const file = openSync(image.path, "r+");
    ftruncateSync(file, MIB);
    closeSync(file);
    // The truncated image is restored again.
    const copy = await cache.get(one.snapshot, { copyTo: copies("image") });
    expect(copy.hit).toBe(false);
    await expectImage(copy.path, one);
  });
});

describe("restoreSnapshot with a cache", () => {
  test("restores into the cache and copies from it", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const origin = await originOf({ "/a.vhs": one.snapshot });
    const url = origin.url("/a.vhs");
    const info = await inspectSnapshot(one.snapshot);
    for (const hit of [false, true]) {
      const target = copies(`image-${hit}`);
      const { duration, ...found } = await restoreSnapshot(url, target, { cache });
      expect(found).toEqual({ ...info, hit });
      expect(duration).toBeGreaterThan(0);
      await expectImage(target, one);
      expect(lstatSync(target).mode & 0o777).toBe(0o600);
      expect(bytesOnDisk(target)).toBeLessThan(MIB);
    }
    const { requestCount } = origin;
    const { digest } = one;
    const options = { cache, digest, resume: true, workers: 1 };
    expect((await restoreSnapshot(url, copies("image"), options)).hit).toBe(true);
    expect(origin.requestCount).toBe(requestCount);
    expect(await cache.stats()).toMatchObject({ fills: 1, hits: 2, misses: 1, leases: 0 });
    expect(strayFiles(directory)).toEqual([]);
    expect(readdirSync(copies()).sort()).toEqual(["image", "image-false", "image-true"]);
  });

  test("returns no hit without a cache", async () => {
    const { hit } = await restoreSnapshot(one.snapshot, copies("image"));
    expect(hit).toBeUndefined();
  });

  test("refuses a snapshot with another digest", async () => {
    const cache = await openCache(newDirectory());
    writeFileSync(copies("image"), "old");
    const options = { cache, digest: other.digest };
    await refusalOf(restoreSnapshot(one.snapshot, copies("image"), options), "ERR_SNAPSHOT_DIGEST");
    expect(readFileSync(copies("image"), "utf8")).toBe("old");
    expect(digestsIn(cache.directory)).toEqual([]);
  });

  test("passes overwrite, onProgress and signal on to the cache", async () => {
    const cache = await openCache(newDirectory());
    writeFileSync(copies("image"), "old");
    const options = { cache, overwrite: false };
    await refusalOf(restoreSnapshot(one.snapshot, copies("image"), options), "ERR_TARGET");
    let last = 0;
    const onProgress = ({ bytes }: { bytes: number }) => {
      last = bytes;
    };
    await cache.clear();
    await restoreSnapshot(one.snapshot, copies("image"), { cache, onProgress });
    expect(last).toBe(512 * KIB);
    const signal = AbortSignal.abort(new Error("the caller's own"));
    const restoring = restoreSnapshot(one.snapshot, copies("image"), { cache, signal });
    expect(await rejectionOf(restoring)).toBe(signal.reason);
    await cache.close();
    await refusalOf(restoreSnapshot(one.snapshot, copies("image"), { cache }), "ERR_CACHE");
  });
});
