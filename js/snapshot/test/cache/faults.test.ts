/** What goes wrong around a cache: disks that are full or may not be written, and what others own. */
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  filesIn,
  imageIn,
  KIB,
  MIB,
  makeSample,
  newDirectories,
  openCache,
  type Sample,
} from "../support/cache.js";
import { type Harm, useHarmed } from "../support/cache-harm.js";
import { onDisk } from "../support/disk.js";
import { originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;

let [directory, small, large, another] = ["", {} as Sample, {} as Sample, {} as Sample];

beforeAll(async () => {
  small = await makeSample(path, "small", { data: 512 * KIB, size: MIB, stride: 128 * KIB });
  large = await makeSample(path, "large", { data: 6 * MIB });
  another = await makeSample(path, "another", { data: 6 * MIB });
});

beforeEach(() => {
  directory = newDirectory();
  mkdirSync(directory, { mode: 0o700 });
});

const harmOf = (kind: Harm["kind"], source = large.snapshot): Harm => ({
  ...{ kind, directory, small, large, another, source },
});

describe("a disk", () => {
  /** What is found after an image could not be restored for want of room. */
  const GIVEN_BACK = { entries: 1, isServed: true, isRestored: true, files: [] };

  test("that is full: nothing is written, and what is there is served", async () => {
    const found = await useHarmed(harmOf("disk is full"), onDisk(directory, "12m"));
    expect(found).toMatchObject({
      ...GIVEN_BACK,
      error: { name: "SnapshotError", code: "ERR_CACHE", causeCode: "ENOSPC" },
    });
    const { filling, bytes } = found as { filling: string[]; bytes: number };
    expect(filling.filter((name) => name.endsWith(".part"))).toEqual([]);
    expect(bytes).toBeLessThan(13 * MIB);
  });

  test("that fills up meanwhile: all that was written goes, and what is there is served", async () => {
    const origin = await originOf({ "/a.vhs": large.snapshot });
    origin.conditions = { bytesPerSecond: 3e6 };
    const harm = harmOf("disk fills up", origin.url("/a.vhs").href);
    const found = await useHarmed(harm, onDisk(directory, "12m"));
    expect(found).toMatchObject({
      ...GIVEN_BACK,
      error: { name: "SnapshotError", code: "ERR_CACHE", causeCode: "ENOSPC" },
    });
    const { filling } = found as { filling: string[] };
    expect(filling.filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test.each([
    ["is too small for all that the cache may have", "12m", undefined],
    ["fills up meanwhile", "16m", 3e6],
  ])(
    "that %s: images that nobody uses go, and the new one is restored",
    async (_, size, bytesPerSecond) => {
      const origin = await originOf({ "/a.vhs": another.snapshot });
      origin.conditions = { bytesPerSecond };
      const { snapshot } = another;
      const source = bytesPerSecond === undefined ? snapshot : origin.url("/a.vhs").href;
      const found = await useHarmed(harmOf("disk has less room", source), onDisk(directory, size));
      expect(found).toEqual({
        ...{ isRestored: true, isHeld: true, evictions: 1, fills: 3, failures: 0 },
        ...{ left: [another.digest, small.digest], files: [] },
      });
    },
  );

  test("that may not be written: what is there is served, and all else is refused", async () => {
    const found = await useHarmed(harmOf("disk may not be written"), onDisk(directory, "64m"));
    const refused = { name: "SnapshotError", causeCode: "EROFS" };
    expect(found).toMatchObject({
      ...{ isServed: true, isThere: true, entries: 1, verified: { good: 1, damaged: [] } },
      fill: { ...refused, code: "ERR_CACHE" },
      remove: { ...refused, code: "ERR_CACHE" },
      open: { ...refused, code: "ERR_CACHE" },
    });
  });
});

describe.runIf(isRoot)("what belongs to others (this takes root to try)", () => {
  beforeEach(() => chmodSync(path(), 0o711));

  const refused = { name: "SnapshotError", code: "ERR_CACHE" };

  test("a cache of another user is refused", async () => {
    chmodSync(directory, 0o755);
    await (await openCache(directory)).close();
    const before = filesIn(directory);
    const { error } = (await useHarmed(harmOf("another user"))) as { error: Error };
    expect(error).toMatchObject(refused);
    expect(error.message).toContain(`owned by user ${NOBODY}, found owner 0`);
    expect(filesIn(directory)).toEqual(before);
  });

  test("a cache that may not be looked into is refused", async () => {
    chownSync(directory, NOBODY, NOBODY);
    chmodSync(directory, 0);
    const found = await useHarmed(harmOf("another user"));
    expect(found).toMatchObject({ error: { ...refused, causeCode: "EACCES" } });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a cache that may not be written is refused", async () => {
    chownSync(directory, NOBODY, NOBODY);
    chmodSync(directory, 0o500);
    const found = await useHarmed(harmOf("another user"));
    expect(found).toMatchObject({ error: { ...refused, causeCode: "EACCES" } });
  });

  test("a cache of which another user has the lock's file is refused", async () => {
    await (await openCache(directory)).close();
    for (const name of ["", "images", "filling"]) chownSync(join(directory, name), NOBODY, NOBODY);
    const found = await useHarmed(harmOf("another user"));
    expect(found).toMatchObject({ error: { ...refused, causeCode: "EACCES" } });
  });

  test("an image that may not be read is told of", async () => {
    const cache = await openCache(directory);
    await (await cache.get(small.snapshot)).release();
    await cache.close();
    for (const name of ["", ...filesIn(directory)])
      chownSync(join(directory, name), NOBODY, NOBODY);
    chmodSync(imageIn(directory, small.digest), 0);
    const found = await useHarmed(harmOf("image may not be read"));
    expect(found).toMatchObject({ error: { ...refused, causeCode: "EACCES" }, leases: 0 });
  });

  test("an image that another user has put there is none", async () => {
    const cache = await openCache(directory);
    await (await cache.get(small.snapshot)).release();
    chownSync(imageIn(directory, small.digest), NOBODY, NOBODY);
    expect((await cache.get(small.snapshot)).hit).toBe(false);
    expect((await cache.stats()).damaged).toBe(1);
  });
});

test("a process that leaves its cache open, with images in use, ends all the same", async () => {
  expect(await useHarmed(harmOf("is left open"))).toEqual({});
  const cache = await openCache(directory, { maxBytes: MIB });
  expect(await cache.clear()).toBe(1);
});
