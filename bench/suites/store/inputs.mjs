// The image, an S3 server behind a slow link, stores with a disk that has two generations, and caches of its base.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DiskStore, ImageCache } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image, mountXfs } from "../../../scripts/lib/file-systems.mjs";
import { StepError } from "../../../scripts/lib/run.mjs";
import { NODE } from "../../harness/results.mjs";
import { startLink, startS3 } from "../../harness/s3.mjs";
import { log, runOnce } from "../../harness/turns.mjs";
import {
  applyWrites,
  blocksOf,
  clusteredWrites,
  dataOf,
  lengthOf,
  writeDonor,
} from "../delta/changes.mjs";
import { readPart } from "../disk/disks.mjs";
import { NO_EVICTION, XFS_BYTES } from "./suite.mjs";

export const SUITE = `store-${NODE}`;

/**
 * Returns the subject of results.
 *
 * @param {string} quantity
 * @param {string} workload
 * @param {string} [unit]
 * @returns {import("../../harness/results.mjs").About}
 */
export const about = (quantity, workload, unit = "ms") => ({
  suite: `${SUITE}, ${quantity}`,
  ...{ workload, unit },
});

/** @typedef {Awaited<ReturnType<typeof makeInputs>>} Inputs */

/** The name of the disk. */
export const NAME = "disk";

/**
 * Makes all inputs in a folder.
 *
 * @param {string} folder
 * @param {import("./suite.mjs").Plan} plan
 */
export async function makeInputs(folder, { imageBytes, dataBytes, share }) {
  const xfs = join(folder, "xfs");
  mkdirSync(xfs);
  const refusal = mountXfs(join(folder, "xfs.img"), xfs, XFS_BYTES);
  if (refusal !== undefined) throw new StepError(`XFS cannot be mounted: ${refusal}`);
  const inXfs = (/** @type {string[]} */ ...names) => join(xfs, ...names);
  const [base, image, donor] = [inXfs("base.img"), inXfs("image.img"), join(folder, "donor")];
  log("an ext4 image, and stores that have it");
  makeExt4Image(base, { imageBytes, dataBytes });
  writeDonor(donor, dataBytes);
  const blocks = blocksOf(await dataOf(base, imageBytes));
  const s3 = await startS3(folder);
  const link = await startLink(s3.options.endpoint);
  const slow = { s3: { ...s3.options, endpoint: link.endpoint } };
  const stores = {
    fast: await DiskStore.open(s3.url("disks"), { s3: s3.options, images: inXfs("images") }),
    folder: await DiskStore.open(inXfs("store"), { images: inXfs("images") }),
  };
  for (const store of Object.values(stores)) await store.create(NAME, { image: base });
  const { source, digest } = (await stores.folder.stat(NAME)).last;
  const cache = await ImageCache.open(inXfs("cache"), { maxBytes: NO_EVICTION });
  await (await cache.get(source, { digest })).release();
  const inputs = {
    ...{ folder, inXfs, base, image, donor, blocks, s3, link, slow, stores, cache },
    /** Returns the ranges of a change. @param {number} seed */
    changes: (seed) => clusteredWrites(blocks, share, seed),
    async stop() {
      await cache.close();
      for (const store of Object.values(stores)) await store.close();
      link.stop();
      await s3.stop();
    },
  };
  // The disk is stopped after it has changed.
  for (const store of Object.values(stores)) {
    clone(base, image);
    const disk = await store.attach(NAME, { fill: "none" });
    await writeTo(disk, inputs, image, 1);
    await disk.detach();
  }
  return inputs;
}

/**
 * Writes changes to a disk, and to the image that is like it: data of files that the image does not have.
 *
 * @param {import("../../../js/snapshot/dist/index.js").AttachedDisk} disk
 * @param {Pick<Inputs, "changes" | "donor">} inputs
 * @param {string} image
 * @param {number} seed
 */
export async function writeTo(disk, { changes, donor }, image, seed) {
  const ranges = changes(seed);
  applyWrites(image, ranges, donor, seed * lengthOf(ranges));
  for (const { start, end } of ranges) await disk.write(start, readPart(image, start, end - start));
  await disk.flush();
}

/**
 * Attaches a disk, reads a byte range of it, and detaches it without a save. Returns the milliseconds until it was read.
 *
 * @param {DiskStore} host
 * @param {string} name
 */
export async function timeToRead(host, name) {
  const begin = performance.now();
  const disk = await host.attach(name);
  await disk.read(1024, 1024);
  const elapsed = performance.now() - begin;
  await disk.detach({ save: false });
  return elapsed;
}

/** Makes a copy of a file that shares its blocks. @param {string} from @param {string} to */
export const clone = (from, to) => void runOnce("cp", "--reflink=always", from, to);
