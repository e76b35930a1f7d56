// Measures the image cache: `run.mjs DISK MEMORY PLAN` with two folders for temporary files and the plan as JSON. Prints its
// results as a JSON array.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { mountXfs } from "../../../scripts/lib/xfs-disk.mjs";
import { measureCopies } from "./copies.mjs";
import { measureEntries } from "./entries.mjs";
import { measureHitRates } from "./hit-rates.mjs";
import { measureHits } from "./hits.mjs";
import { makeSamples, openFilled } from "./images.mjs";
import { measureRestores } from "./restores.mjs";
import { SUITE } from "./results.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */
/** @typedef {import("./images.mjs").Sample} Sample */

/** The size of the XFS disk, a sparse file, in bytes. */
const XFS_BYTES = 2 ** 34;

/** The name of copies that share blocks. */
const ON_XFS = "copies on XFS";

const [, , disk = "", memory = "", json = ""] = process.argv;
/** @type {import("./plan.mjs").Plan} */
const plan = JSON.parse(json);
const samples = await makeSamples(disk, plan);
console.log(
  JSON.stringify([
    ...(await measureOnDisk()),
    ...(await measureOnXfs()),
    ...(await measureEntries(disk, plan)),
    ...(await measureHitRates(memory, plan.traces)),
  ]),
);

/** @returns {Promise<Measured[]>} */
async function measureOnDisk() {
  const directory = join(disk, "cache");
  const cache = await openFilled(directory, samples);
  const flags = ["--sparse=always", "--reflink=auto"];
  const restored = /** @type {Sample} */ (
    samples.find(({ imageSize }) => imageSize === plan.restoredBytes)
  );
  const results = [
    ...(await measureHits(cache, samples, plan)),
    ...(await measureCopies("copies", cache, samples, { flags, rounds: plan.copies })),
    ...(await measureRestores(disk, cache, restored, plan.restores)),
  ];
  await cache.close();
  rmSync(directory, { recursive: true });
  return results;
}

/** Measures copies that share blocks. @returns {Promise<Measured[]>} */
async function measureOnXfs() {
  const mounted = join(disk, "xfs");
  mkdirSync(mounted);
  const refusal = mountXfs(join(disk, "xfs.img"), mounted, XFS_BYTES);
  if (refusal !== undefined) {
    return [{ suite: `${SUITE}, ${ON_XFS}`, why: `XFS cannot be mounted: ${refusal}` }];
  }
  const cache = await openFilled(join(mounted, "cache"), samples);
  const flags = ["--reflink=always"];
  const results = await measureCopies(ON_XFS, cache, samples, {
    flags,
    rounds: plan.copies,
  });
  await cache.close();
  return results;
}
