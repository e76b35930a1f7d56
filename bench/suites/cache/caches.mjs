// Makes images, their snapshots and filled caches.
import { rmSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot, ImageCache } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import { itself, NODE, resultsOf } from "../../harness/results.mjs";
import { formatSize, log } from "../../harness/turns.mjs";
import { NO_EVICTION } from "./suite.mjs";

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
 * @param {import("./suite.mjs").Plan} plan
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
