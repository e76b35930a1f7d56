// The images that are in caches, and their snapshots.
import { rmSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot, ImageCache } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/ext4-image.mjs";
import { say, sizeName } from "../../harness/progress.mjs";
import { ROOMY } from "./plan.mjs";

/** A snapshot of an image. @typedef {{ name: string, imageSize: number, dataBytes: number, snapshot: string, digest: string }} Sample */

/**
 * Makes images of ext4 of all sizes, and snapshots of them. The images go.
 *
 * @param {string} folder
 * @param {import("./plan.mjs").Plan} plan
 * @returns {Promise<Sample[]>}
 */
export async function makeSamples(folder, { sizes, dataShare }) {
  const samples = [];
  for (const imageBytes of sizes) {
    const name = sizeName(imageBytes);
    say(`an ext4 image of ${name}, and its snapshot`);
    const [image, snapshot] = [join(folder, "image.ext4"), join(folder, `${imageBytes}.vhs`)];
    const { dataBytes } = makeExt4Image(image, { imageBytes, dataBytes: dataShare * imageBytes });
    const { digest } = await createSnapshot(image, snapshot);
    rmSync(image);
    samples.push({ name, imageSize: imageBytes, dataBytes, snapshot, digest });
  }
  return samples;
}

/**
 * Opens a cache with the images of all samples in it.
 *
 * @param {string} directory
 * @param {Sample[]} samples
 */
export async function openFilled(directory, samples) {
  say(`a cache with ${samples.length} images`);
  const cache = await ImageCache.open(directory, { maxBytes: ROOMY });
  for (const { snapshot, digest } of samples) {
    const image = await cache.get(snapshot, { digest });
    await image.release();
  }
  return cache;
}
