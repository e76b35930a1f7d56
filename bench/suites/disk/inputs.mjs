// Makes images, their snapshots, and what a boot reads.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot, ImageCache } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import { log } from "../../harness/turns.mjs";
import { blocksOf, clusteredWrites, dataOf } from "../delta/changes.mjs";
import { recordBoot } from "./boot.mjs";
import { execute } from "./disks.mjs";
import { addGuestFiles, OTHER_WORKLOAD, WORKLOAD } from "./guest-files.mjs";
import { recordMount } from "./mounts.mjs";
import { MAIN } from "./suite.mjs";

/** A limit under which nothing is evicted. */
const NO_EVICTION = 2 ** 40;

/** Options of `qemu-img` that compress as snapshots do. */
const ZSTD = ["-o", "compression_type=zstd"];

/** An image and its snapshot. @typedef {{ name: string, image: string, snapshot: string }} Sample */

/** @typedef {Awaited<ReturnType<typeof makeInputs>>} Inputs */

/**
 * Makes the image of most measurements, its snapshot, a cache that has it, and recordings of what uses it.
 *
 * @param {string} folder
 * @param {import("./suite.mjs").Plan} plan
 */
export async function makeInputs(folder, plan) {
  const { image, snapshot } = await makeSample(folder, plan, MAIN);
  const { digest } = await createSnapshot(image, snapshot);
  const size = plan.sizes[MAIN] ?? 0;
  const qcow2 = join(folder, "image.qcow2");
  await execute("qemu-img", ["convert", "-c", "-O", "qcow2", ...ZSTD, image, qcow2]);
  const blocks = blocksOf(await dataOf(image, size));
  const cache = await ImageCache.open(join(folder, "cache"), { maxBytes: NO_EVICTION });
  const { release } = await cache.get(snapshot, { digest });
  await release();

  log("boots and a mount whose reads are recorded");
  const inFolder = (/** @type {string} */ name) => join(folder, name);
  const traces = {
    boot: `${snapshot}.trace`,
    other: inFolder("other.trace"),
    mount: inFolder("mount.trace"),
  };
  const boot = await recordBoot(folder, snapshot, WORKLOAD);
  writeFileSync(traces.boot, JSON.stringify(boot.trace));
  if (plan.allBoots) {
    const other = await recordBoot(folder, snapshot, OTHER_WORKLOAD);
    writeFileSync(traces.other, JSON.stringify(other.trace));
  } else {
    writeFileSync(traces.other, JSON.stringify({ version: 1, ranges: [] }));
  }
  const mount = await recordMount(folder, snapshot, plan.files);
  writeFileSync(traces.mount, JSON.stringify(mount.trace));
  return {
    ...{ folder, image, qcow2, snapshot, digest, size, blocks, cache, traces },
    reads: boot.reads,
    ...{ bootOutput: boot.printed, mountOutput: mount.printed },
  };
}

/**
 * Makes an image of installed files, that of most measurements also with programs for a guest.
 *
 * @param {string} folder
 * @param {import("./suite.mjs").Plan} plan
 * @param {string} name
 * @returns {Promise<Sample>}
 */
export async function makeSample(folder, plan, name) {
  const imageBytes = plan.sizes[name] ?? 0;
  log(`an ext4 image of ${name}`);
  const image = join(folder, `${imageBytes}.ext4`);
  const add = name === MAIN ? (/** @type {string} */ tree) => addGuestFiles(tree, plan) : undefined;
  makeExt4Image(image, { imageBytes, dataBytes: Math.round(plan.dataShare * imageBytes) }, add);
  return { name, image, snapshot: join(folder, `${imageBytes}.vhs`) };
}

/** Removes an image and its snapshot. @param {Sample} sample */
export function removeSample({ image, snapshot }) {
  for (const path of [image, snapshot]) rmSync(path, { force: true });
}

/**
 * Returns changes of an image: ranges of about as many bytes in all.
 *
 * @param {Pick<Inputs, "blocks">} inputs
 * @param {number} bytes
 * @param {number} seed
 */
export const changesOf = ({ blocks }, bytes, seed) =>
  clusteredWrites(blocks, bytes / 4096 / blocks.length, seed);
