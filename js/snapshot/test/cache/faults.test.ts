/** Faults around a cache: full and read-only disks, and files of other users. */
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
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
} from "../support/cache.js";
import { type FaultScenario, runScenario } from "../support/cache-faults.js";
import { onDisk } from "../support/disk.js";
import { originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
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

const scenario = (kind: FaultScenario["kind"], source = large.snapshot): FaultScenario => ({
  ...{ kind, directory, small, large, another, source },
});

/** Returns what all open files inherit from. */
async function handles(): Promise<FileHandle> {
  await using file = await open(large.image);
  return Object.getPrototypeOf(file);
}

describe("a disk", () => {
  /** The state after an image could not be restored on a full disk. */
  const CLEANED_UP = { entries: 1, isServed: true, isRestored: true, files: [] };

  test("serves hits and writes nothing when the disk is full", async () => {
    const found = await runScenario(scenario("disk is full"), onDisk(directory, "12m"));
    expect(found).toMatchObject({
      ...CLEANED_UP,
      error: { name: "SnapshotError", code: "ERR_CACHE", causeCode: "ENOSPC" },
    });
    const { filling, bytes } = found as { filling: string[]; bytes: number };
    expect(filling.filter((name) => name.endsWith(".part"))).toEqual([]);
    expect(bytes).toBeLessThan(13 * MIB);
  });

  test("that is full only when an image is flushed gets all of its data again", async () => {
    const origin = await originOf({ "/a.vhs": large.snapshot });
    const cache = await openCache(newDirectory());
    await (await cache.get(small.snapshot)).release();
    const handle = await handles();
    const full = Object.assign(new Error("no space"), { code: "ENOSPC", syscall: "fsync" });
    const { sync: syncFile } = handle;
    const { size } = statSync(large.image);
    let failures = 0;
    const sync = vi.spyOn(handle, "sync").mockImplementation(async function (this: FileHandle) {
      const isImage = (await this.stat()).size === size;
      if (!isImage || failures > 0) return syncFile.call(this);
      failures += 1;
      throw full;
    });
    const image = await cache.get(origin.url("/a.vhs"), { workers: 1, connections: 1 });
    sync.mockRestore();
    expect(failures).toBe(1);
    await expectImage(image.path, large);
    expect(origin.bytesSent).toBeGreaterThan(1.9 * large.fileSize);
    await image.release();
  });

  test("has the image and its record in full before they are visible, whenever its power fails", async () => {
    const cache = await openCache(newDirectory());
    const handle = await handles();
    const { sync: syncFile } = handle;
    const synced: { readonly size: number; readonly visible: string[] }[] = [];
    const sync = vi.spyOn(handle, "sync").mockImplementation(async function (this: FileHandle) {
      const { size } = await this.stat();
      await syncFile.call(this);
      synced.push({ size, visible: digestsIn(cache.directory) });
    });
    const image = await cache.get(large.snapshot, { workers: 1 });
    sync.mockRestore();
    const sizes = [image.path, recordIn(cache.directory, large.digest)].map(
      (path) => statSync(path).size,
    );
    expect(synced).toEqual(sizes.map((size) => ({ size, visible: [] })));
    await image.release();
  });

  test("removes a partial restore and serves hits when the disk fills up meanwhile", async () => {
    const origin = await originOf({ "/a.vhs": large.snapshot });
    origin.conditions = { bytesPerSecond: 3e6 };
    const fault = scenario("disk fills up", origin.url("/a.vhs").href);
    const found = await runScenario(fault, onDisk(directory, "12m"));
    expect(found).toMatchObject({
      ...CLEANED_UP,
      error: { name: "SnapshotError", code: "ERR_CACHE", causeCode: "ENOSPC" },
    });
    const { filling } = found as { filling: string[] };
    expect(filling.filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test.each([
    ["is smaller than the limit", "12m", undefined],
    ["fills up meanwhile", "16m", 3e6],
  ])(
    "evicts idle images and restores the new one when the disk %s",
    async (_, size, bytesPerSecond) => {
      const origin = await originOf({ "/a.vhs": another.snapshot });
      origin.conditions = { bytesPerSecond };
      const { snapshot } = another;
      const source = bytesPerSecond === undefined ? snapshot : origin.url("/a.vhs").href;
      const found = await runScenario(
        scenario("disk has less room", source),
        onDisk(directory, size),
      );
      expect(found).toEqual({
        ...{ isRestored: true, isHeld: true, evictions: 1, fills: 3, failures: 0 },
        ...{ left: [another.digest, small.digest], files: [] },
      });
    },
  );

  const refused = { name: "SnapshotError", code: "ERR_CACHE", causeCode: "EROFS" };

  test("serves hits and refuses changes on a disk that becomes read-only", async () => {
    const found = await runScenario(scenario("disk may not be written"), onDisk(directory, "64m"));
    expect(found).toMatchObject({
      ...{ isServed: true, isThere: true, entries: 2 },
      verified: { good: 1, damaged: [another.digest] },
      ...{ fill: refused, remove: refused },
    });
  });

  test("opens and serves hits on a read-only disk, and says why a miss fails", async () => {
    const origin = await originOf({ "/a.vhs": small.snapshot });
    const { href } = origin.url("/a.vhs");
    const found = await runScenario(scenario("disk is read-only", href), onDisk(directory, "64m"));
    const message = `${directory}: nothing can be added to this cache, which is read-only`;
    expect(found).toEqual({
      ...{ served: [true, true, true], entries: 2 },
      errors: [1, 2].map(() => ({ ...refused, message })),
    });
  });
});

describe("files of other users", () => {
  beforeEach(() => chmodSync(path(), 0o711));

  const refused = { name: "SnapshotError", code: "ERR_CACHE" };

  test("refuses a cache that another user owns", async () => {
    chmodSync(directory, 0o755);
    await (await openCache(directory)).close();
    const before = filesIn(directory);
    const { error } = (await runScenario(scenario("another user"))) as { error: Error };
    expect(error).toMatchObject(refused);
    expect(error.message).toContain(`owned by user ${NOBODY}, found owner 0`);
    expect(filesIn(directory)).toEqual(before);
  });

  test("refuses a cache that cannot be read", async () => {
    chownSync(directory, NOBODY, NOBODY);
    chmodSync(directory, 0);
    const found = await runScenario(scenario("another user"));
    expect(found).toMatchObject({ error: { ...refused, causeCode: "EACCES" } });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("refuses a cache that cannot be written", async () => {
    chownSync(directory, NOBODY, NOBODY);
    chmodSync(directory, 0o500);
    const found = await runScenario(scenario("another user"));
    expect(found).toMatchObject({ error: { ...refused, causeCode: "EACCES" } });
  });

  test("refuses a cache whose lock file another user owns", async () => {
    await (await openCache(directory)).close();
    for (const name of ["", "images", "filling"]) chownSync(join(directory, name), NOBODY, NOBODY);
    const found = await runScenario(scenario("another user"));
    expect(found).toMatchObject({ error: { ...refused, causeCode: "EACCES" } });
  });

  test("reports an image that cannot be read", async () => {
    const cache = await openCache(directory);
    await (await cache.get(small.snapshot)).release();
    await cache.close();
    for (const name of ["", ...filesIn(directory)])
      chownSync(join(directory, name), NOBODY, NOBODY);
    chmodSync(imageIn(directory, small.digest), 0);
    const found = await runScenario(scenario("image may not be read"));
    expect(found).toMatchObject({ error: { ...refused, causeCode: "EACCES" }, leases: 0 });
  });

  test("ignores an image that another user owns", async () => {
    const cache = await openCache(directory);
    await (await cache.get(small.snapshot)).release();
    chownSync(imageIn(directory, small.digest), NOBODY, NOBODY);
    expect((await cache.get(small.snapshot)).hit).toBe(false);
    expect((await cache.stats()).damaged).toBe(1);
  });
});

test("does not keep a process alive that leaves a cache open with images in use", async () => {
  expect(await runScenario(scenario("is left open"))).toEqual({});
  const cache = await openCache(directory, { maxBytes: MIB });
  expect(await cache.clear()).toBe(1);
});
