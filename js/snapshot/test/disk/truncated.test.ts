/** Files that are truncated while a disk reads them: missing bytes are never read, or saved, as zeros. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open as openFile } from "node:fs/promises";
import {
  createSnapshot,
  type Disk,
  openSnapshot,
  type Progress,
  restoreSnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";

import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { imageIn, MIB, openCache } from "../support/cache.js";
import { type Chain, makeChain } from "../support/deltas.js";
import { xfsDisk } from "../support/loop-disk.js";
import { NBD, NbdClient } from "../support/nbd-client.js";
import { refusalOf } from "../support/refusal.js";

const BLOCK = 4096;
const { cmd, errno } = NBD;
const path = temporaryFolder();
const xfs = xfsDisk(512 * MIB);
let chain: Chain;
let count = 0;

beforeAll(async () => {
  chain = await makeChain(path);
});

/** Opens a disk over a cached image, in a folder of its own. Returns it, and a function that truncates that image. */
async function overCached(cached: string, options: object = {}, at = path, snapshot = "a.vhs") {
  count += 1;
  const folder = at(`disk-${count}`);
  mkdirSync(folder);
  const cache = await openCache(`${folder}/cache`);
  await using leased = await cache.get(path(cached));
  const base = imageIn(`${folder}/cache`, leased.info.digest);
  const truncate = (length = 0) => {
    chmodSync(base, 0o600);
    truncateSync(base, length);
  };
  const how = { image: `${folder}/disk`, cache, workers: 1, trace: false, ...options } as const;
  const open = () => openSnapshot(path(snapshot), how);
  return { folder, open, truncate, image: how.image };
}

/** Connects to a disk. */
async function clientOf(disk: Disk, folder: string): Promise<NbdClient> {
  await disk.listen({ path: `${folder}/socket` });
  const client = await NbdClient.open(`${folder}/socket`);
  onTestFinished(() => client.close());
  return client;
}

describe("a cached image that is truncated under an open disk", () => {
  test.each(["a.vhs", "first.vhs"])(
    "is an error to readers, and is never saved: %s",
    async (cached) => {
      const { folder, open, truncate } = await overCached(cached, { fill: "none" });
      await using disk = await open();
      const client = await clientOf(disk, folder);
      const [whole, part] = [noise("whole", BLOCK), noise("part", 100)];
      const offset = 600 * 1024;
      truncate(offset + 10);
      await refusalOf(disk.read(offset, BLOCK), "ERR_CACHE");
      const read = await client.request({ type: cmd.read, offset, length: BLOCK });
      expect(read.errno).toBe(errno.io);
      // The rest of the block cannot be read.
      const request = { type: cmd.write, offset: offset + 50, length: part.length, data: part };
      expect((await client.request(request)).errno).toBe(errno.io);
      await refusalOf(disk.write(offset + 50, part), "ERR_CACHE");
      expectSame(await disk.read(0, BLOCK), chain.image.subarray(0, BLOCK));
      await disk.write(offset, whole);
      // Less than half of a base object is in use, so that its data is read to be stored again.
      await refusalOf(disk.save(`${folder}/saved.vhs`), "ERR_CACHE");
    },
  );

  test("does not fail a save that needs nothing of its missing end", async () => {
    const options = { fill: "none" };
    const { folder, open, truncate } = await overCached("base.vhs", options, path, "base.vhs");
    await restoreSnapshot(path("base.vhs"), `${folder}/expected`, { workers: 1 });
    const expected = readFileSync(`${folder}/expected`);
    await using disk = await open();
    const [whole, offset] = [noise("whole", BLOCK), 600 * 1024];
    truncate(offset + 10);
    await refusalOf(disk.read(offset, BLOCK), "ERR_CACHE");
    await disk.write(offset, whole);
    await disk.save(`${folder}/saved.vhs`);
    const resolve = () => path("base.vhs");
    await restoreSnapshot(`${folder}/saved.vhs`, `${folder}/restored`, { workers: 1, resolve });
    whole.copy(expected, offset);
    expectSame(readFileSync(`${folder}/restored`), expected);
  });

  test("ends the fill, and is restored when the disk is opened again", async () => {
    const { open, truncate, image } = await overCached("first.vhs");
    const disk = await open();
    truncate(MIB);
    await refusalOf(disk.filled, "ERR_CACHE");
    await disk.close();
    await using again = await open();
    await again.filled;
    expectSame(readFileSync(image), chain.image);
  });

  test("is not the beginning of a disk on XFS", async () => {
    const { folder, open, truncate } = await overCached("first.vhs", {}, xfs.path);
    const file = await openFile(path("a.vhs"));
    const prototype = Object.getPrototypeOf(file) as typeof file;
    await file.close();
    const { truncate: original } = prototype;
    const spy = vi.spyOn(prototype, "truncate").mockImplementationOnce(function (
      this: typeof file,
      ...args
    ) {
      truncate(MIB);
      return original.apply(this, args);
    });
    onTestFinished(() => spy.mockRestore());
    await refusalOf(open(), "ERR_CACHE");
    expect(spy).toHaveBeenCalled();
    expect(leftovers(folder)).toEqual([]);
  });
});

describe("an image that is truncated while its disk is open", () => {
  test("is an error to readers, writers, flushes and saves, and is not opened again", async () => {
    const { folder, open } = await overCached("base.vhs", { fill: "none", cache: undefined });
    const disk = await open();
    const client = await clientOf(disk, folder);
    await disk.read(0, MIB);
    await disk.write(BLOCK, noise("written", 2 * BLOCK));
    await disk.flush();
    const partial = `${folder}/${leftovers(folder).find((name) => name.endsWith(".disk"))}`;
    truncateSync(partial, BLOCK);
    await refusalOf(disk.read(BLOCK, 1), "ERR_TARGET");
    // Its frame is fetched, and not written to the file.
    await refusalOf(disk.read(2 * MIB, 1), "ERR_TARGET");
    for (const [offset, length] of [
      [2 * MIB, BLOCK],
      [BLOCK + 1, 1],
    ] as const) {
      await refusalOf(disk.write(offset, Buffer.alloc(length, 1)), "ERR_TARGET");
      const request = { type: cmd.write, offset, length, data: Buffer.alloc(length, 1) };
      expect((await client.request(request)).errno).toBe(errno.io);
    }
    expect((await client.request({ type: cmd.flush, offset: 0, length: 0 })).errno).toBe(errno.io);
    await refusalOf(disk.save(`${folder}/saved.vhs`), "ERR_TARGET");
    await refusalOf(disk.close(), "ERR_TARGET");
    const { message } = await refusalOf(open(), "ERR_TARGET");
    expect(message).toContain("truncated");
  });

  test("has no holes where it ends early", async () => {
    const { folder, open, image } = await overCached("base.vhs", { cache: undefined });
    const disk = await open();
    await disk.filled;
    await disk.listen({ path: `${folder}/socket` });
    const client = await NbdClient.open(`${folder}/socket`, { contexts: ["base:allocation"] });
    truncateSync(image, MIB);
    const { chunks } = await client.request({ type: cmd.status, offset: 0, length: 2 * MIB });
    // The identity of the context, then the length and the flags of the only extent.
    expect([8, 4].map((at) => chunks[0]?.payload.readUInt32BE(at))).toEqual([0, 2 * MIB]);
    await client.close();
    await refusalOf(disk.close(), "ERR_TARGET");
    await refusalOf(open(), "ERR_TARGET");
  });

  test("is not cloned for a save on XFS", async () => {
    writeFileSync(path("zeros"), "");
    truncateSync(path("zeros"), 40 * MIB);
    await createSnapshot(path("zeros"), path("zeros.vhs"), { workers: 1 });
    const image = xfs.path("cloned");
    const disk = await openSnapshot(path("zeros.vhs"), { image, workers: 1 });
    await disk.filled;
    await disk.write(0, noise("much", 33 * MIB));
    truncateSync(image, 20 * MIB);
    await refusalOf(disk.save(xfs.path("saved.vhs")), "ERR_IMAGE_CHANGED");
    await refusalOf(disk.close(), "ERR_TARGET");
  });
});

test("a base that is truncated while an image is compared with it is an error", async () => {
  const base = noise("compared", 8 * MIB);
  writeFileSync(path("compared"), base);
  const { digest } = await createSnapshot(path("compared"), path("compared.vhs"), { workers: 1 });
  const cache = await openCache(path("compared-cache"));
  await (await cache.get(path("compared.vhs"))).release();
  // The first event comes while letters are compressed. Then zeros are compared with bytes that are missing.
  letters("changed", 7 * MIB).copy(base);
  writeFileSync(path("compared"), base.fill(0, 7 * MIB));
  let events = 0;
  const onProgress = () => {
    events += 1;
    if (events > 1) return;
    const cached = imageIn(path("compared-cache"), digest);
    chmodSync(cached, 0o600);
    truncateSync(cached, 0);
  };
  const options = { base: path("compared.vhs"), cache, workers: 1, level: 12, onProgress };
  await refusalOf(createSnapshot(path("compared"), path("delta.vhs"), options), "ERR_CACHE");
  expect(existsSync(path("delta.vhs"))).toBe(false);
});

test("an image that is truncated while it is restored is an error", async () => {
  const folder = path("restored");
  mkdirSync(folder);
  // Data that is written after a truncation would make the file as long as it was.
  const onProgress = ({ bytes, totalBytes }: Progress) => {
    if (bytes < totalBytes) return;
    for (const name of leftovers(folder)) truncateSync(`${folder}/${name}`, 0);
  };
  const restoring = restoreSnapshot(path("a.vhs"), `${folder}/image`, { workers: 1, onProgress });
  await refusalOf(restoring, "ERR_TARGET");
  expect(readdirSync(folder)).toEqual([]);
});
