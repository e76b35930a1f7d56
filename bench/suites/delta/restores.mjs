// Times restores of deltas from a server.
import { rmSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot } from "../../../js/snapshot/dist/index.js";
import { FAST, startServer } from "../../harness/server.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { applyWrites, clusteredWrites, lengthOf } from "./changes.mjs";
import { filesOf } from "./creates.mjs";
import { copyFile } from "./inputs.mjs";
import { callTimes, command, compare, hedgerow, times } from "./methods.mjs";
import { commitOverlay } from "./rivals.mjs";
import { CHAIN } from "./suite.mjs";

/** @import { Disk } from "./inputs.mjs" */
/** @import { Method } from "./methods.mjs" */
/** @import { Context } from "./run.mjs" */

/**
 * Restores the image that was changed last to a disk whose cache has the base.
 *
 * @param {Context} context
 * @param {string} what
 * @param {string} workload
 * @param {Disk} disk
 * @param {number} rounds
 */
export async function measureRestores({ inputs, desync }, what, workload, disk, rounds) {
  const { delta, whole, overlay } = filesOf(inputs.ext4.folder);
  const files = [inputs.ext4.snapshot, delta, whole, overlay];
  if (desync !== undefined) files.push(desync.index);
  const { base, restored, cache, copyFlag } = disk;
  const root = desync === undefined ? {} : { root: desync.newChunks };
  const server = await startServer(FAST, { files, ...root });
  try {
    const { url } = server;
    const verify = () => compare(inputs.ext4.image, restored);
    const ours = (/** @type {string} */ name, /** @type {string} */ file, options = {}) =>
      hedgerow(name, "restore", url(file), restored, options, { verify });
    const cp = ["cp", copyFlag, base, restored];
    /** @type {Method[]} */
    const methods = [
      ours("hedgerow", delta, { cache }),
      ours("hedgerow, nothing cached", delta),
      ours("hedgerow, full", whole),
      command("cp", cp, { outputs: [restored] }),
      command("cp, then fsync", ["sh", "-c", '"$@" && sync "$0"', restored, ...cp], {
        outputs: [restored],
      }),
      ...(desync === undefined ? [] : [desync.extract(url, base, restored, verify)]),
      commitOverlay(url(overlay), base, restored, copyFlag, verify),
    ];
    const timed = await takeTurns(methods, rounds, { warmUps: 0 });
    const second = ours("hedgerow, second call", delta, { cache, calls: 2 });
    const again = await takeTurns([second], rounds, { warmUps: 0 });
    return [...times(what, workload, timed), ...callTimes(what, workload, again)];
  } finally {
    await server.stop();
    rmSync(restored, { force: true });
  }
}

/** The share of the data that each delta of a chain changes. */
const CHAIN_SHARE = 0.01;

/**
 * Restores the last delta of a chain, with nothing cached.
 *
 * @param {Context} context
 */
export async function measureChain({ inputs, plan }) {
  const { blocks, donor, ext4 } = inputs;
  const { folder, image, restored } = ext4;
  rmSync(image, { force: true });
  copyFile(ext4.base, image, ext4.copyFlag);
  const files = [ext4.snapshot];
  for (let number = 1; number <= CHAIN; number += 1) {
    const changed = clusteredWrites(blocks, CHAIN_SHARE, number);
    applyWrites(image, changed, donor, number * lengthOf(changed));
    const delta = join(folder, `chain-${number}.vhs`);
    await createSnapshot(image, delta, { base: files.at(-1), changed });
    files.push(delta);
  }
  const { whole } = filesOf(folder);
  await createSnapshot(image, whole);
  const server = await startServer(FAST, { files: [...files, whole] });
  try {
    const verify = () => compare(image, restored);
    const restore = (/** @type {string} */ name, /** @type {string} */ file) =>
      hedgerow(name, "restore", server.url(file), restored, {}, { verify });
    const methods = [restore("hedgerow", files.at(-1) ?? ""), restore("hedgerow, full", whole)];
    const timed = await takeTurns(methods, plan.rounds, { warmUps: 0 });
    return times("restore a chain", `${CHAIN} deltas`, timed);
  } finally {
    await server.stop();
    rmSync(restored, { force: true });
  }
}
