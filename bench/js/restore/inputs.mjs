// What is restored: an image, its snapshot, and the same for the others.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/ext4-image.mjs";
import { goTool } from "../../../scripts/lib/go.mjs";
import { say } from "./say.mjs";

/**
 * @typedef {object} Inputs
 * @property {string} image
 * @property {string} snapshot
 * @property {string} zst the image as one frame, as people make it
 * @property {string} index the image for `desync`
 * @property {string} store the folder of chunks that the index leads to
 * @property {{ name: string, snapshot: string }[]} others snapshots of images of other sizes, with their names
 * @property {number} needed how many bytes the snapshot has
 */

/**
 * Makes all inputs in a folder.
 *
 * @param {string} folder
 * @param {import("./plan.mjs").Plan} plan
 * @returns {Promise<Inputs>}
 */
export async function makeInputs(folder, plan) {
  const inFolder = (/** @type {string} */ name) => join(folder, name);
  const others = [];
  for (const imageBytes of plan.sizes) {
    const name = gibibytes(imageBytes);
    say(`an ext4 image of ${name} with data in proportion, and its snapshot`);
    const snapshot = inFolder(`${imageBytes}.vhs`);
    const image = inFolder("other.ext4");
    const dataBytes = (plan.dataBytes / plan.imageBytes) * imageBytes;
    makeExt4Image(image, { imageBytes, dataBytes });
    await createSnapshot(image, snapshot);
    rmSync(image);
    others.push({ name, snapshot });
  }
  say("the ext4 image that everything is compared on, as each of the tools wants it");
  const image = inFolder("image.ext4");
  makeExt4Image(image, plan);
  const [snapshot, zst] = [inFolder("image.vhs"), inFolder("image.zst")];
  await createSnapshot(image, snapshot);
  execFileSync("zstd", ["-q", "-3", "-T2", image, "-o", zst]);
  const [index, store] = [inFolder("image.caibx"), inFolder("store")];
  mkdirSync(store);
  execFileSync(goTool("desync"), ["make", "-s", store, index, image], { stdio: "ignore" });
  others.push(await makeSparse(image, inFolder("sparse.vhs"), plan));
  return { image, snapshot, zst, index, store, others, needed: statSync(snapshot).size };
}

/**
 * The snapshot of an image with the same data and more holes.
 *
 * @param {string} image
 * @param {string} snapshot
 * @param {import("./plan.mjs").Plan} plan
 */
async function makeSparse(image, snapshot, { imageBytes, sparseBytes }) {
  const sparse = `${image}.sparse`;
  execFileSync("cp", ["--sparse=always", image, sparse]);
  truncateSync(sparse, sparseBytes);
  await createSnapshot(sparse, snapshot);
  rmSync(sparse);
  const name = `${gibibytes(sparseBytes)}, data of ${gibibytes(imageBytes)}`;
  return { name, snapshot };
}

/** A size for people. @param {number} bytes */
export const gibibytes = (bytes) => `${bytes / 2 ** 30} GiB`;
