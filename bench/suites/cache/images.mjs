// Makes images, their snapshots and filled caches.
import { rmSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot, ImageCache } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/ext4-image.mjs";
import { formatSize, log } from "../../harness/progress.mjs";
import { NO_EVICTION } from "./plan.mjs";

/** A snapshot of an image. @typedef {{ name: string, imageSize: number, dataBytes: number, snapshot: string, digest: string }} Sample */

/**
 * Makes snapshots of ext4 images of all sizes. The images are removed.
 *
 * @param {string} folder
 * @param {import("./plan.mjs").Plan} plan
 * @returns {Promise<Sample[]>}
 */
export async function makeSamples(folder, { sizes, dataShare }) {
  const samples = [];
  for (const imageBytes of sizes) {
    const name = formatSize(imageBytes);
    log(`an ext4 image of ${name}, and its snapshot`);
    const [image, snapshot] = [join(folder, "image.ext4"), join(folder, `${imageBytes}.vhs`)];
    const { dataBytes } = makeExt4Image(image, { imageBytes, dataBytes: dataShare * imageBytes });
    const { digest } = await createSnapshot(image, snapshot);
    rmSync(image);
    samples.push({ name, imageSize: imageBytes, dataBytes, snapshot, digest });
  }
  return samples;
}

/**
 * Opens a cache that contains the images of all samples.
 *
 * @param {string} directory
 * @param {Sample[]} samples
 */
export async function openFilled(directory, samples) {
  log(`a cache with ${samples.length} images`);
  const cache = await ImageCache.open(directory, { maxBytes: NO_EVICTION });
  for (const { snapshot, digest } of samples) {
    const image = await cache.get(snapshot, { digest });
    await image.release();
  }
  return cache;
}
