/** Saves whose delta would exceed the limits of the format. */
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { createSnapshot } from "../../dist/create-snapshot.js";
import { DeltaEncoder, DeltaTooLargeError } from "../../dist/delta/delta-encoder.js";
import type { OpenDisk } from "../../dist/disk/disk.js";
import { DiskSaver, inFullIfTooLarge, type SaveTarget } from "../../dist/disk/save-disk.js";
import { ImageFile } from "../../dist/local/image-file.js";
import { locationOf } from "../../dist/location/location.js";
import { writeSnapshot } from "../../dist/location/write-snapshot.js";
import { openSnapshot } from "../../dist/open-snapshot.js";
import { restoreSnapshot } from "../../dist/restore-snapshot.js";
import { DiskStore } from "../../dist/store/disk-store.js";
import type { DiskVolume } from "../../dist/store/volume.js";
import { compiledEncode } from "../../dist/wasm/compiled-encode.js";
import { manifestOf } from "../support/resume-state.js";

const BLOCK = 4096;
const MAX_FRAMES = 2 ** 20;
const path = temporaryFolder();

/** Makes an image of holes, with pieces of 4 KiB, and its snapshot. */
async function emptyImage(name: string, size: number): Promise<void> {
  writeFileSync(path(name), "");
  truncateSync(path(name), size);
  await createSnapshot(path(name), path(`${name}.vhs`), { pieceSize: BLOCK, workers: 1 });
}

test("a delta with more frames than the format allows is refused as too large", async () => {
  await emptyImage("large", (MAX_FRAMES + 2) * BLOCK);
  const manifest = await manifestOf(path("large.vhs"));
  const image = await ImageFile.open(path("large"));
  const module = await compiledEncode();
  const encoder = new DeltaEncoder(module, image, { level: 3, pieceSize: BLOCK }, manifest, [""]);
  /** Returns a batch of pieces of one block, each with a frame of one byte. */
  const batch = (first: number, count: number) => {
    const pieces = new ArrayBuffer(16 * count);
    const [frames, runs] = [new ArrayBuffer(48 * count), new ArrayBuffer(12 * count)];
    for (let at = 0; at < count; at += 1) {
      new Float64Array(pieces, 16 * at, 1)[0] = first + at;
      new Uint32Array(pieces, 16 * at + 8, 2).set([1, 1]);
      new Float64Array(frames, 48 * at, 1)[0] = BLOCK;
      new Uint32Array(frames, 48 * at + 8, 1)[0] = 1;
      new Uint32Array(runs, 12 * at, 3).set([1, 0, 0]);
    }
    const length = count * BLOCK;
    return { length, pieces, frames, frameCount: count, runs, bytes: new Uint8Array(count) };
  };
  try {
    for (let first = 0; first < MAX_FRAMES; first += 2 ** 16)
      [...encoder.push(batch(first, 2 ** 16))];
    expect(() => [...encoder.push(batch(MAX_FRAMES, 1))]).toThrow(DeltaTooLargeError);
  } finally {
    encoder.free();
    await image.close();
  }
});

test("a save whose delta is too large is a full snapshot in larger pieces, and the next one a delta of it", async () => {
  const size = 3 * 2 ** 20 + 100;
  await emptyImage("small", size);
  const options = { image: path("local"), workers: 1 };
  await using disk = await openSnapshot(path("small.vhs"), options);
  const expected = Buffer.alloc(size);
  const change = async (offset: number, bytes: Buffer) => {
    await disk.write(offset, bytes);
    bytes.copy(expected, offset);
  };
  await change(5000, noise("one", 100_000));
  const { saver } = (disk as unknown as { readonly open: OpenDisk }).open;
  let writes = 0;
  const target = (name: string): SaveTarget => {
    const location = locationOf("destination", path(name));
    return {
      location,
      write: async (making) => {
        writes += 1;
        if (writes === 1) throw new DeltaTooLargeError("ERR_IMAGE", "too many frames");
        return writeSnapshot(location, making);
      },
    };
  };
  const full = await inFullIfTooLarge(() => saver.save(target("full.vhs"), {}));
  expect(full.info).toMatchObject({ pieceSize: 2 ** 20, imageSize: size });
  expect([full.info?.delta, writes, disk.changedBytes]).toEqual([undefined, 2, 0]);
  await restoreSnapshot(path("full.vhs"), path("restored"));
  expectSame(readFileSync(path("restored")), expected);

  await change(2 ** 21, noise("two", 10));
  const delta = await saver.save(target("delta.vhs"), {});
  expect(delta.info?.delta?.objects.map(({ reference }) => reference)).toEqual(["full.vhs"]);
  await restoreSnapshot(path("delta.vhs"), path("restored"));
  expectSame(readFileSync(path("restored")), expected);
});

/** Lets the first save of a disk fail when it has written its delta. */
function failFirst(isWanted: (saver: DiskSaver) => boolean = () => true): void {
  const { save } = DiskSaver.prototype;
  let isFirst = true;
  vi.spyOn(DiskSaver.prototype, "save").mockImplementation(function (this: DiskSaver, target, how) {
    if (!isFirst || !isWanted(this)) return save.call(this, target, how);
    isFirst = false;
    const write: SaveTarget["write"] = async (making) => {
      await target.write?.(making);
      throw new DeltaTooLargeError("ERR_IMAGE", "too many frames");
    };
    return save.call(this, { ...target, write }, how);
  });
}

afterEach(() => void vi.restoreAllMocks());

test("if the delta of one volume is too large, the others are saved as deltas", async () => {
  const volumes = { memory: { size: 4 * BLOCK } };
  await using store = await DiskStore.open(path("volumes"), { images: path("volume-images") });
  await store.create("a", { size: 4 * BLOCK, volumes });
  const disk = await store.attach("a");
  const memory = disk.volume("memory") as DiskVolume;
  for (const one of [disk, memory]) await one.write(0, noise("one", BLOCK));
  const { saver } = (disk as unknown as { readonly open: OpenDisk }).open;
  failFirst((one) => one === saver);
  await disk.detach();
  const again = await store.attach("a");
  const { info } = again.volume("memory") as DiskVolume;
  expect([again.info.delta, info.delta?.objects]).toEqual([undefined, []]);
  await again.detach();
});

test("an image whose delta is too large is recovered as a full snapshot", async () => {
  await using store = await DiskStore.open(path("store"), { images: path("images") });
  await using thief = await DiskStore.open(path("store"), { images: path("thief") });
  await store.create("a", { size: 4 * BLOCK });
  const disk = await store.attach("a");
  await disk.write(0, noise("one", BLOCK));
  await (await thief.attach("a", { steal: true })).detach();
  await expect(disk.detach()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  failFirst();
  await store.recover(disk.image, "b");
  const recovered = await store.attach("b");
  expect(recovered.info.delta).toBeUndefined();
  expectSame(await recovered.read(0, BLOCK), noise("one", BLOCK));
  await recovered.detach();
});
