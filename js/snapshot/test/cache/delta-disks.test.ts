/** Images of deltas on real disks: they share the blocks of their base where the file system can. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { type ImageCache, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { bytesOnDisk } from "../../../../tests/support/snapshots/image.js";
import {
  digestsIn,
  expectImage,
  imageIn,
  KIB,
  MIB,
  makeSample,
  openCache,
  type Sample,
} from "../support/cache.js";
import { makeDelta, write } from "../support/cached-deltas.js";
import { btrfsDisk, ext4Disk, type LoopDisk, xfsDisk } from "../support/loop-disk.js";
import { shared } from "../support/shared-extents.js";

const path = temporaryFolder();
const disks: Record<string, { readonly disk: LoopDisk; readonly canShare: boolean }> = {
  XFS: { disk: xfsDisk(320 * MIB), canShare: true },
  btrfs: { disk: btrfsDisk(256 * MIB), canShare: true },
  ext4: { disk: ext4Disk(128 * MIB), canShare: false },
};

/** The data of the base, and the changed and the cleared part of it, in bytes. */
const [DATA, CHANGED, CLEARED] = [6 * MIB, 512 * KIB, MIB];

let [base, delta] = [{} as Sample, {} as Sample];

beforeAll(async () => {
  base = await makeSample(path, "base", { data: DATA, size: 96 * MIB, stride: 128 * KIB });
  delta = await makeDelta(base, "delta", [
    write("changed", 4 * MIB, CHANGED),
    (bytes) => bytes.fill(0, 6 * MIB, 6 * MIB + 2 * CLEARED),
  ]);
});

/** Returns the number of bytes of a disk that are in use. */
function usedBytes({ path: on }: LoopDisk): number {
  execFileSync("sync", ["-f", on()]);
  const [, used = ""] = `${execFileSync("df", ["-B1", "--output=used", on()])}`.trim().split("\n");
  return Number(used);
}

/** Throws unless two images share all data that did not change. */
async function expectShared(image: string, cache: ImageCache): Promise<void> {
  const ranges = await shared(image, imageIn(cache.directory, base.digest));
  const bytes = (ranges ?? []).reduce((sum, { start, end }) => sum + end - start, 0);
  expect(bytes).toBeGreaterThanOrEqual(DATA - CHANGED - CLEARED);
}

describe.each(Object.entries(disks))("on %s", (_, { disk, canShare }) => {
  /** The data of the delta's image that is new, or all of it. */
  const most = canShare ? CHANGED + 2 * MIB : DATA + 2 * MIB;

  test(`the image of a delta takes the space of its changes, if it can be shared`, async () => {
    mkdirSync(disk.path("one"));
    const cache = await openCache(disk.path("one", "cache"));
    await (await cache.get(base.snapshot)).release();
    const before = usedBytes(disk);
    const image = await cache.get(delta.snapshot);
    await expectImage(image.path, delta);
    expect(usedBytes(disk) - before).toBeLessThan(most);
    expect(bytesOnDisk(image.path)).toBeLessThan(DATA + MIB);
    if (canShare) await expectShared(image.path, cache);
    expect(await cache.verify()).toEqual({ good: 2, damaged: [] });
    await cache.clear();
  });

  test(`a copy takes the space of its changes, if it can be shared`, async () => {
    mkdirSync(disk.path("two"));
    const cache = await openCache(disk.path("two", "cache"));
    await (await cache.get(base.snapshot)).release();
    for (const name of ["copied", "restored"]) {
      const [before, copyTo] = [usedBytes(disk), disk.path("two", name)];
      if (name === "copied") await cache.get(delta.snapshot, { workers: 1, copyTo });
      else await restoreSnapshot(delta.snapshot, copyTo, { workers: 1, cache });
      await expectImage(copyTo, delta);
      expect(usedBytes(disk) - before).toBeLessThan(most);
      expect(bytesOnDisk(copyTo)).toBeLessThan(DATA + MIB);
      if (canShare) await expectShared(copyTo, cache);
    }
    expect(digestsIn(cache.directory)).toEqual([base.digest]);
    await cache.clear();
  });
});
