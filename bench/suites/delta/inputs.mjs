// Makes the base, its snapshot, caches that have its image, and changed images.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot, ImageCache } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image, mountXfs } from "../../../scripts/lib/file-systems.mjs";
import { formatSize, log } from "../../harness/turns.mjs";
import { applyWrites, blocksOf, dataOf, writeDonor } from "./changes.mjs";
import { NO_EVICTION, XFS_BYTES } from "./suite.mjs";

/**
 * A disk with the image of the base, its snapshot, a cache that has it, and a changed image.
 *
 * @typedef {{ folder: string, base: string, snapshot: string, cache: string, image: string, restored: string, copyFlag: string }} Disk
 */

/** @typedef {Awaited<ReturnType<typeof makeInputs>>} Inputs */

/** @param {string} folder @param {string} copyFlag of `cp` @returns {Disk} */
function diskIn(folder, copyFlag) {
  const inFolder = (/** @type {string} */ name) => join(folder, name);
  return {
    ...{ folder, copyFlag, base: inFolder("base.img"), snapshot: inFolder("base.vhs") },
    ...{ cache: inFolder("cache"), image: inFolder("image.img"), restored: inFolder("restored") },
  };
}

/**
 * Makes all inputs in a folder.
 *
 * @param {string} folder
 * @param {import("./suite.mjs").Plan} plan
 */
export async function makeInputs(folder, { imageBytes, dataBytes }) {
  const ext4 = diskIn(folder, "--sparse=always");
  log(`an ext4 image of ${formatSize(imageBytes)}, its snapshot, and data for changes`);
  makeExt4Image(ext4.base, { imageBytes, dataBytes });
  const { digest } = await createSnapshot(ext4.base, ext4.snapshot);
  const donor = join(folder, "donor");
  writeDonor(donor, dataBytes);
  const extents = await dataOf(ext4.base, imageBytes);
  const blocks = blocksOf(extents);
  await fillCache(ext4, digest);

  const mounted = join(folder, "xfs");
  mkdirSync(mounted);
  const refusal = mountXfs(join(folder, "xfs.img"), mounted, XFS_BYTES);
  const xfs = refusal === undefined ? diskIn(mounted, "--reflink=always") : undefined;
  if (xfs !== undefined) {
    copyFileSync(ext4.snapshot, xfs.snapshot);
    await fillCache(xfs, digest, xfs.base);
  }
  return { ext4, xfs, refusal, donor, extents, blocks, digest };
}

/** Adds the image of the base to a cache. @param {Disk} disk @param {string} digest @param {string} [copyTo] */
async function fillCache({ cache: directory, snapshot }, digest, copyTo) {
  const cache = await ImageCache.open(directory, { maxBytes: NO_EVICTION });
  const { path, release } = await cache.get(snapshot, { digest });
  if (copyTo !== undefined) copyFile(path, copyTo, "--reflink=always");
  await release();
  await cache.close();
}

/** @param {string} from @param {string} to @param {string} flag of `cp` */
export function copyFile(from, to, flag) {
  execFileSync("cp", ["--no-preserve=mode", flag, from, to]);
}

/**
 * Makes the changed image of all disks: copies of the base, on XFS one that shares its blocks. Returns a file with the
 * ranges.
 *
 * @param {Inputs} inputs
 * @param {import("./changes.mjs").Range[]} ranges
 */
export function changeImages({ ext4, xfs, donor }, ranges) {
  for (const disk of [ext4, xfs]) {
    if (disk === undefined) continue;
    rmSync(disk.image, { force: true });
    copyFile(disk.base, disk.image, disk.copyFlag);
    applyWrites(disk.image, ranges, donor);
  }
  const changed = join(ext4.folder, "changed.json");
  writeFileSync(changed, JSON.stringify(ranges));
  return changed;
}
