// Measures how long a reader waits during a fill, and without one.
import { setTimeout as sleep } from "node:timers/promises";

import { seededRandom } from "../../../tests/origin/random.mjs";
import { result } from "../../harness/results.mjs";
import { startServer } from "../../harness/server.mjs";
import { about, checkEqual, inNewFolder, readPart, withDisk } from "./disks.mjs";
import { NETWORKS } from "./suite.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Context } from "./first-byte.mjs" */

const BLOCK = 4096;

/** Milliseconds between a reader’s reads. */
const PAUSE = 5;

/** Compares the waits of a reader during a fill with those without one. @param {Context} context */
export async function measureWaits({ inputs, plan }) {
  const { folder, snapshot } = inputs;
  const results = /** @type {Measured[]} */ ([]);
  for (const network of NETWORKS) {
    const server = await startServer(network, { files: [snapshot] });
    try {
      const url = server.url(snapshot);
      const [during, idle] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
      for (let fill = 1; fill <= plan.fills; fill += 1) {
        await inNewFolder(folder, (own) =>
          withDisk(own, url, { trace: false }, async (disk) => {
            const { signal } = endOf(disk.filled);
            during.push(...(await waits(inputs, disk, fill, () => signal.aborted)));
          }),
        );
      }
      await inNewFolder(folder, (own) =>
        withDisk(own, url, { trace: false, fill: "none" }, async (disk) => {
          let reads = 0;
          idle.push(
            ...(await waits(inputs, disk, 0, () => {
              reads += 1;
              return reads > plan.idleReads;
            })),
          );
        }),
      );
      results.push(...waitResults(network.name, { hedgerow: during, "no fill": idle }));
    } finally {
      await server.stop();
    }
  }
  return results;
}

/** @param {Promise<void>} filled */
function endOf(filled) {
  const ended = new AbortController();
  const end = () => ended.abort();
  filled.then(end, end);
  return ended;
}

/**
 * Reads random blocks, one at a time. Returns the milliseconds of the reads whose data was missing.
 *
 * @param {Context["inputs"]} inputs
 * @param {import("./disks.mjs").Disk} disk
 * @param {number} seed
 * @param {() => boolean} isOver
 */
async function waits({ image, blocks }, disk, seed, isOver) {
  const random = seededRandom(seed);
  const found = [];
  while (!isOver()) {
    const offset = blocks[Math.floor(random() * blocks.length)] ?? 0;
    const before = disk.stats().demand.count;
    const begin = performance.now();
    const bytes = await disk.read(offset, BLOCK);
    const wait = performance.now() - begin;
    checkEqual(bytes, readPart(image, offset, BLOCK));
    if (disk.stats().demand.count > before) found.push(wait);
    await sleep(PAUSE);
  }
  return found;
}

/** @param {string} network @param {Record<string, number[]>} found */
function waitResults(network, found) {
  return Object.entries(found).flatMap(([name, all]) => {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (/** @type {number} */ share) =>
      sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
    const details = { reads: sorted.length };
    return [
      result(about("wait, median", network), name, [at(0.5)], details),
      result(about("wait, p99", network), name, [at(0.99)], details),
    ];
  });
}
