// Makes images, their snapshots and filled caches.
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Layout } from "../../../js/snapshot/dist/cache/files.js";
import { createSnapshot, ImageCache } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import { formatSize, log } from "../../harness/progress.mjs";
import { itself, NODE, resultsOf } from "../../harness/results.mjs";
import { NO_EVICTION } from "./plan.mjs";

export const SUITE = `cache-${NODE}`;

/**
 * Returns a result for each method that was timed in milliseconds.
 *
 * @param {string} quantity
 * @param {string} workload
 * @param {import("../../harness/turns.mjs").Timed[]} timed
 * @param {import("../../harness/results.mjs").Details} [details]
 */
export const times = (quantity, workload, timed, details) =>
  resultsOf({ suite: `${SUITE}, ${quantity}`, workload, unit: "ms" }, timed, itself, details);

/**
 * A snapshot of an image.
 *
 * @typedef {{ name: string, imageSize: number, dataBytes: number, snapshot: string, digest: string }} Sample
 */

/**
 * Makes snapshots of ext4 images of all sizes. The images are removed.
 *
 * @param {string} folder
 * @param {import("./plan.mjs").Plan} plan
 * @returns {Promise<Sample[]>}
 */
export async function makeSamples(folder, { sizes, dataShare }) {
  const samples = [];
  for (const imageSize of sizes) {
    const name = formatSize(imageSize);
    log(`an ext4 image of ${name}, and its snapshot`);
    const [image, snapshot] = [join(folder, "image.ext4"), join(folder, `${imageSize}.vhs`)];
    const { dataBytes } = makeExt4Image(image, {
      imageBytes: imageSize,
      dataBytes: dataShare * imageSize,
    });
    const { digest } = await createSnapshot(image, snapshot);
    rmSync(image);
    samples.push({ name, imageSize, dataBytes, snapshot, digest });
  }
  return samples;
}

/** Opens a cache that contains the images of all samples. @param {string} directory @param {Sample[]} samples */
export async function openFilled(directory, samples) {
  log(`a cache with ${samples.length} images`);
  const cache = await ImageCache.open(directory, { maxBytes: NO_EVICTION });
  for (const { snapshot, digest } of samples) {
    await (await cache.get(snapshot, { digest })).release();
  }
  return cache;
}

/** A block of a disk. */
const BLOCK = Buffer.alloc(4096, 1);

const SUM_LENGTH = 32;

/**
 * Makes a cache of `count` images, the same image under different digests, and returns the digests. The files are
 * copies of those of one fill: ten thousand fills would take minutes.
 *
 * @param {string} directory
 * @param {number} count
 */
export async function makeEntries(directory, count) {
  const [image, snapshot] = [`${directory}.img`, `${directory}.vhs`];
  writeFileSync(image, BLOCK);
  const { digest } = await createSnapshot(image, snapshot);
  const cache = await ImageCache.open(directory, { maxBytes: NO_EVICTION });
  await (await cache.get(snapshot, { digest })).release();
  await cache.close();
  const layout = new Layout(directory);
  const record = readFileSync(layout.record(digest));
  const others = Array.from({ length: count - 1 }, (_, index) =>
    sha256(`${index}`).toString("hex"),
  );
  for (const other of others) {
    writeFileSync(layout.image(other), BLOCK, { mode: 0o400 });
    writeFileSync(layout.record(other), renamed(record, digest, other), { mode: 0o600 });
  }
  return [digest, ...others];
}

/**
 * Returns the record of an image with another digest.
 *
 * @param {Buffer} record
 * @param {string} from
 * @param {string} to
 */
function renamed(record, from, to) {
  const bytes = Buffer.from(record.subarray(0, -SUM_LENGTH));
  bytes.write(to, bytes.indexOf(from), "latin1");
  return Buffer.concat([bytes, sha256(bytes)]);
}

/** @param {string | Buffer} bytes */
const sha256 = (bytes) => createHash("sha256").update(bytes).digest();
