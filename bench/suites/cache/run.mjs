// Measures the image cache.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { mountXfs } from "../../../scripts/lib/file-systems.mjs";
import { makeSamples, openFilled, SUITE } from "./caches.mjs";
import { measureHitRates } from "./hit-rates.mjs";
import { measureCopies, measureHits } from "./hits.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @typedef {import("./caches.mjs").Sample} Sample */
/** @typedef {import("./suite.mjs").Plan} Plan */

/** The size of the XFS disk, a sparse file, in bytes. */
const XFS_BYTES = 2 ** 34;

/** The name of copies that share blocks. */
const ON_XFS = "copies on XFS";

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ disk, memory, plan }) {
  const samples = await makeSamples(disk, plan);
  return [
    ...(await measureOnDisk(disk, samples, plan)),
    ...(await measureOnXfs(disk, samples, plan)),
    ...(await measureHitRates(memory, plan.traces)),
  ];
}

/** @param {string} disk @param {Sample[]} samples @param {Plan} plan */
async function measureOnDisk(disk, samples, plan) {
  const directory = join(disk, "cache");
  const cache = await openFilled(directory, samples);
  const flags = ["--sparse=always", "--reflink=auto"];
  const results = [
    ...(await measureHits(cache, samples, plan)),
    ...(await measureCopies("copies", cache, samples, { flags, rounds: plan.copies })),
  ];
  await cache.close();
  rmSync(directory, { recursive: true });
  return results;
}

/**
 * Measures copies that share blocks.
 *
 * @param {string} disk
 * @param {Sample[]} samples
 * @param {Plan} plan
 * @returns {Promise<Measured[]>}
 */
async function measureOnXfs(disk, samples, { copies: rounds }) {
  const mounted = join(disk, "xfs");
  mkdirSync(mounted);
  const refusal = mountXfs(join(disk, "xfs.img"), mounted, XFS_BYTES);
  if (refusal !== undefined) {
    return [{ suite: `${SUITE}, ${ON_XFS}`, why: `XFS cannot be mounted: ${refusal}` }];
  }
  const cache = await openFilled(join(mounted, "cache"), samples);
  const flags = ["--reflink=always"];
  const results = await measureCopies(ON_XFS, cache, samples, { flags, rounds });
  await cache.close();
  return results;
}
