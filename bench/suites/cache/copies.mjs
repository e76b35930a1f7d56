// Times private copies of cached images, and `cp`.
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { log, runOnce, takeTurns, timeOf } from "../../harness/turns.mjs";
import { times } from "./caches.mjs";

/** @typedef {import("./caches.mjs").Sample} Sample */
/** @typedef {import("../../../js/snapshot/dist/index.js").ImageCache} ImageCache */

/**
 * Copies images to a folder on the same disk. Before each copy, the previous one is removed and the disk is synced, so
 * that no method pays for the writes of another.
 *
 * @param {string} what
 * @param {ImageCache} cache
 * @param {Sample[]} samples
 * @param {{ flags: string[], rounds: number }} options flags of `cp`, each for a method
 */
export async function measureCopies(what, cache, samples, { flags, rounds }) {
  const target = join(dirname(cache.directory), "copy.img");
  const results = [];
  for (const { name, snapshot, digest, dataBytes } of samples) {
    log(`${what} of ${name}`);
    const { path, release } = await cache.get(snapshot, { digest });
    const copy = () => cache.get(snapshot, { digest, copyTo: target });
    const methods = [
      { name: "hedgerow", time: () => timeOfCopy(target, copy) },
      ...flags.map((flag) => ({
        name: `cp ${flag}`,
        time: () => timeOfCopy(target, () => runOnce("cp", flag, path, target)),
      })),
    ];
    try {
      results.push(...times(what, name, await takeTurns(methods, rounds), { dataBytes }));
    } finally {
      await release();
      rmSync(target, { force: true });
    }
  }
  return results;
}

/** @param {string} target @param {() => unknown} copy */
function timeOfCopy(target, copy) {
  rmSync(target, { force: true });
  runOnce("sync");
  return timeOf(copy);
}
