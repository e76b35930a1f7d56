// Times opening a disk and reading from it once.
import { join } from "node:path";

import { createSnapshot, restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { itself, resultsOf } from "../../harness/results.mjs";
import { FAST, startServer } from "../../harness/server.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { applyWrites, blocksOf, dataOf } from "../delta/changes.mjs";
import { WORKERS } from "../restore/suite.mjs";
import {
  about,
  checkEqual,
  compareFiles,
  execute,
  inNewFolder,
  readPart,
  withDisk,
} from "./disks.mjs";
import { changesOf, makeSample, removeSample } from "./inputs.mjs";
import { MAIN } from "./suite.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Options } from "./disks.mjs" */
/** @import { Inputs, Sample } from "./inputs.mjs" */
/** @import { Plan } from "./suite.mjs" */

const BLOCK = 4096;

const PIPE = `curl -s -f --noproxy '*' "$1" | zstd -d --sparse -q -f -o "$2"`;

/** The inputs, a folder on a disk, and the plan. @typedef {{ inputs: Inputs, disk: string, plan: Plan }} Context */

/** Compares the first byte of a disk with full restores, over image sizes. @param {Context} context */
export async function measureSizes({ inputs, plan }) {
  const results = /** @type {Measured[]} */ ([]);
  for (const name of Object.keys(plan.sizes)) {
    if (name === MAIN) {
      results.push(...(await compareSize(inputs, plan, { ...inputs, name })));
      continue;
    }
    const sample = await makeSample(inputs.folder, plan, name);
    await createSnapshot(sample.image, sample.snapshot);
    results.push(...(await compareSize(inputs, plan, sample)));
    removeSample(sample);
  }
  return results;
}

/** @param {Inputs} inputs @param {Plan} plan @param {Sample} sample */
async function compareSize({ folder }, plan, { name, image, snapshot }) {
  const blocks = blocksOf(await dataOf(image, plan.sizes[name] ?? 0));
  // What a kernel reads first: the partition table, or the superblock.
  const offset = 0;
  const expected = readPart(image, offset, BLOCK);
  const server = await startServer(FAST, { files: [snapshot] });
  try {
    const url = server.url(snapshot);
    const restoring = (
      /** @type {string} */ method,
      /** @type {(target: string) => Promise<unknown>} */ restore,
    ) => {
      let isCompared = name !== MAIN;
      return {
        name: method,
        time: () =>
          inNewFolder(folder, async (own) => {
            const target = join(own, "image");
            let found = Buffer.alloc(0);
            const elapsed = await timeOf(async () => {
              await restore(target);
              found = readPart(target, offset, BLOCK);
            });
            checkEqual(found, expected);
            if (!isCompared) await compareFiles(target, image);
            isCompared = true;
            return elapsed;
          }),
      };
    };
    const first = firstByte("hedgerow", folder, url, { offset, expected });
    const slow = [
      restoring("full restore", (target) => restoreSnapshot(url, target, { workers: WORKERS })),
    ];
    if (name === MAIN) {
      const pipe = (/** @type {string} */ target) => execute("sh", ["-c", PIPE, "sh", url, target]);
      slow.push(restoring("curl | zstd -d", pipe));
    }
    const timed = [
      ...(await takeTurns([first], plan.fastRounds)),
      ...(await takeTurns(slow, plan.rounds, { warmUps: 0 })),
    ];
    return resultsOf(about("first byte", name), timed, itself, {
      imageBytes: plan.sizes[name] ?? 0,
      dataBytes: blocks.length * BLOCK,
    });
  } finally {
    await server.stop();
  }
}

/**
 * Returns the method that opens a disk and reads a block.
 *
 * @param {string} name
 * @param {string} folder
 * @param {string} url
 * @param {{ offset: number, expected: Buffer, options?: Options, before?: (folder: string) => Promise<void> }} work
 */
export const firstByte = (name, folder, url, { offset, expected, options = {}, before }) => ({
  name,
  time: () =>
    inNewFolder(folder, async (own) => {
      await before?.(own);
      const begin = performance.now();
      return withDisk(own, url, options, async (disk) => {
        const found = await disk.read(offset, BLOCK);
        const elapsed = performance.now() - begin;
        checkEqual(found, expected);
        return elapsed;
      });
    }),
});

/** Times the first byte of disks of which something is known. @param {Context} context */
export async function measureCached({ inputs, plan }) {
  const { folder, image, snapshot, digest, blocks, cache } = inputs;
  const [changed, delta] = [join(folder, "changed.ext4"), join(folder, "delta.vhs")];
  const changes = changesOf(inputs, plan.writtenBytes, 1);
  await execute("cp", ["--sparse=always", image, changed]);
  applyWrites(changed, changes, image);
  const { digest: deltaDigest } = await createSnapshot(changed, delta, {
    base: snapshot,
    changed: changes,
  });
  const server = await startServer(FAST, { files: [snapshot, delta] });
  try {
    const url = server.url(snapshot);
    const at = (/** @type {number} */ share) => {
      const offset = blocks[Math.floor(share * blocks.length)] ?? 0;
      return { offset, expected: readPart(image, offset, BLOCK) };
    };
    const first = { offset: 0, expected: readPart(image, 0, BLOCK) };
    const { start: offset } = changes[changes.length >> 1] ?? { start: 0 };
    const read = async (/** @type {string} */ own) => {
      const options = { fill: /** @type {const} */ ("none"), digest };
      await withDisk(own, url, options, (disk) => disk.read(at(0.25).offset, BLOCK));
    };
    const methods = [
      firstByte("nothing cached", folder, url, first),
      firstByte("nothing cached, a block in the middle", folder, url, at(0.5)),
      firstByte("opened again", folder, url, {
        ...{ ...first, options: { fill: "none", digest }, before: read },
      }),
      firstByte("base cached, delta fetched", folder, server.url(delta), {
        ...{ offset, expected: readPart(changed, offset, BLOCK) },
        options: { cache, digest: deltaDigest },
      }),
      firstByte("everything cached", folder, url, { ...first, options: { cache, digest } }),
    ];
    const timed = await takeTurns(methods, plan.fastRounds);
    return resultsOf(about("first byte, cached", MAIN), timed, itself);
  } finally {
    await server.stop();
  }
}
