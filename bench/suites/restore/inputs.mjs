// Makes the image and its files for each tool.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import { goTool } from "../../../scripts/lib/go.mjs";
import { formatSize, log } from "../../harness/turns.mjs";

/** Images of other sizes, with as much data in proportion. */
const SIZES = [
  { name: "a quarter of the size", factor: 1 / 4 },
  { name: "half the size", factor: 1 / 2 },
  { name: "twice the size", factor: 2 },
];

/** An image with the same data and more holes. */
const SPARSE = { name: "4 times the size, the same data", factor: 4 };

/** A snapshot of an image of another size. @typedef {{ name: string, snapshot: string, imageBytes: number }} Other */

/** The image, and its files for each tool. @typedef {Awaited<ReturnType<typeof makeInputs>>} Inputs */

/**
 * Makes all inputs in a folder. Without `desync`, its store and its index are empty.
 *
 * @param {import("./suite.mjs").Parameters} parameters
 */
export async function makeInputs({ folder, plan, desyncError }) {
  const inFolder = (/** @type {string} */ name) => join(folder, name);
  /** @type {Other[]} */
  const others = [];
  for (const { name, factor } of SIZES) {
    const imageBytes = factor * plan.imageBytes;
    log(`an ext4 image of ${formatSize(imageBytes)} with data in proportion, and its snapshot`);
    const snapshot = inFolder(`${imageBytes}.vhs`);
    const image = inFolder("other.ext4");
    makeExt4Image(image, { imageBytes, dataBytes: factor * plan.dataBytes });
    await createSnapshot(image, snapshot);
    rmSync(image);
    others.push({ name, snapshot, imageBytes });
  }
  log("the ext4 image of the comparisons, in the format of each tool");
  const image = inFolder("image.ext4");
  makeExt4Image(image, plan);
  const [snapshot, zst] = [inFolder("image.vhs"), inFolder("image.zst")];
  await createSnapshot(image, snapshot);
  execFileSync("zstd", ["-q", "-3", "-T2", image, "-o", zst]);
  const [index, store] = [inFolder("image.caibx"), inFolder("store")];
  mkdirSync(store);
  if (desyncError === undefined) {
    execFileSync(goTool("desync"), ["make", "-s", store, index, image], { stdio: "ignore" });
  } else {
    writeFileSync(index, "");
  }
  others.push(await makeSparse(image, inFolder("sparse.vhs"), plan));
  const needed = statSync(snapshot).size;
  return { image, snapshot, zst, index, store, desyncError, others, needed };
}

/**
 * Makes the snapshot of an image with the same data and more holes.
 *
 * @param {string} image
 * @param {string} snapshot
 * @param {import("./suite.mjs").Plan} plan
 */
async function makeSparse(image, snapshot, plan) {
  const sparse = `${image}.sparse`;
  const imageBytes = SPARSE.factor * plan.imageBytes;
  execFileSync("cp", ["--sparse=always", image, sparse]);
  truncateSync(sparse, imageBytes);
  await createSnapshot(sparse, snapshot);
  rmSync(sparse);
  return { name: SPARSE.name, snapshot, imageBytes };
}
