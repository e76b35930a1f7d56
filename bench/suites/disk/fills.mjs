// Times the fill of a disk, alone and beside readers.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { seededRandom } from "../../../tests/origin/random.mjs";
import { itself, result, resultsOf } from "../../harness/results.mjs";
import { startServer } from "../../harness/server.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { FAST, WORKERS } from "../restore/plan.mjs";
import { checkEqual, compareFiles, execute, inNewFolder, readPart, withDisk } from "./disks.mjs";
import { uriOf } from "./nbd-servers.mjs";
import { NETWORKS } from "./plan.mjs";
import { about } from "./results.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Context } from "./first-byte.mjs" */

const BLOCK = 4096;

/** Milliseconds between a reader’s reads. */
const PAUSE = 5;

/** Compares a fill, and a copy over NBD during it, with a full restore. @param {Context} context */
export async function measureFills({ inputs, plan }) {
  const { folder, image, snapshot } = inputs;
  const server = await startServer(FAST, { files: [snapshot] });
  try {
    const url = server.url(snapshot);
    const timed = (
      /** @type {string} */ name,
      /** @type {(own: string, target: string) => Promise<number>} */ work,
    ) => {
      let isCompared = false;
      return {
        name,
        time: () =>
          inNewFolder(folder, async (own) => {
            const target = join(own, "image");
            const elapsed = await work(own, target);
            if (!isCompared) await compareFiles(target, image);
            isCompared = true;
            return elapsed;
          }),
      };
    };
    const restore = (/** @type {string} */ target) =>
      restoreSnapshot(url, target, { workers: WORKERS });
    const methods = [
      timed("hedgerow", async (own) => {
        const begin = performance.now();
        return withDisk(own, url, {}, async (disk) => {
          await disk.filled;
          return performance.now() - begin;
        });
      }),
      timed("full restore", (_, target) => timeOf(() => restore(target))),
      timed("nbdcopy", async (own) => {
        const begin = performance.now();
        return withDisk(own, url, {}, async (disk) => {
          const path = join(own, "socket");
          await disk.listen({ path });
          await execute("nbdcopy", [uriOf(path), "null:"]);
          const elapsed = performance.now() - begin;
          await disk.filled;
          return elapsed;
        });
      }),
    ];
    const all = await takeTurns(methods, plan.rounds, { warmUps: 0 });
    const [filled = [], copied = []] = [
      ["hedgerow", "full restore"],
      ["nbdcopy", "full restore"],
    ].map((names) => all.filter(({ name }) => names.includes(name)));
    return [
      ...resultsOf(about("fill", FAST.name), filled, itself),
      ...resultsOf(
        about("copy while filling", FAST.name),
        copied.map((one) => (one.name === "nbdcopy" ? { ...one, name: "hedgerow" } : one)),
        itself,
      ),
    ];
  } finally {
    await server.stop();
  }
}

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
 * Reads random blocks, one at a time. Returns the milliseconds of the reads that needed a request.
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
    const begin = performance.now();
    const bytes = await disk.read(offset, BLOCK);
    const wait = performance.now() - begin;
    checkEqual(bytes, readPart(image, offset, BLOCK));
    if (wait >= (FAST.firstByte ?? 0)) found.push(wait);
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
