// Times creating deltas, and measures them.
import { statSync } from "node:fs";
import { join } from "node:path";

import { result } from "../../harness/results.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { lengthOf } from "./changes.mjs";
import { hedgerow, readBoth, SUITE, times } from "./methods.mjs";
import { compressedBlocks, makeOverlay, makePatch } from "./rivals.mjs";
import { MAIN } from "./suite.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Range } from "./changes.mjs" */
/** @import { Method } from "./methods.mjs" */
/** @import { Timed } from "./methods.mjs" */
/** @import { Context } from "./run.mjs" */

/** A change of the image, and the file with its ranges. @typedef {{ name: string, ranges: Range[], changed: string }} Change */

/** The files that are made of a changed image. @param {string} folder */
export const filesOf = (folder) => ({
  delta: join(folder, "delta.vhs"),
  whole: join(folder, "whole.vhs"),
  overlay: join(folder, "image.qcow2"),
});

/**
 * Creates deltas in all ways, and what other tools have.
 *
 * @param {Context} context
 * @param {Change} change
 * @returns {Promise<Measured[]>}
 */
export async function measureCreates(context, { name, ranges, changed }) {
  const { inputs, plan, desync } = context;
  const { ext4, xfs } = inputs;
  const { delta, whole, overlay } = filesOf(ext4.folder);
  const { image, snapshot: base } = ext4;
  const ours = (/** @type {string} */ method, /** @type {object} */ options) =>
    hedgerow(method, "create", image, delta, { base, ...options });
  /** @type {Method[]} */
  const fast = [
    ours("hedgerow, changed", { changed }),
    readBoth(ext4.base, image),
    ours("hedgerow, ext4", { cache: ext4.cache }),
  ];
  if (xfs !== undefined) {
    const { cache, snapshot, folder } = xfs;
    const to = filesOf(folder).delta;
    fast.push(hedgerow("hedgerow", "create", xfs.image, to, { base: snapshot, cache }));
  }
  const patch =
    name === MAIN
      ? makePatch(image, ext4.base, {
          ...{ extents: inputs.extents, folder: ext4.folder, seconds: plan.patchSeconds },
        })
      : undefined;
  const slow = [
    ours("hedgerow, nothing known", {}),
    hedgerow("hedgerow, full", "create", image, whole, {}),
    ...(desync === undefined ? [] : [desync.make(image)]),
    makeOverlay(image, ext4.base, overlay),
  ];
  const details = { imageBytes: plan.imageBytes, changedBytes: lengthOf(ranges) };
  const slowRounds = name === MAIN ? plan.rounds : plan.slowRounds;
  const timed = [
    ...(await takeTurns(fast, plan.rounds, { warmUps: 0 })),
    ...(await takeTurns(slow, Math.min(slowRounds, plan.rounds), { warmUps: 0 })),
    ...(patch === undefined ? [] : await takeTurns([patch.method], 1, { warmUps: 0 })),
  ];
  return [
    ...times("create", name, timed, details),
    ...(await sizes(context, { name, ranges }, timed, {
      ...{ "hedgerow, changed": delta, "hedgerow, full": whole, qcow2: overlay },
      "zstd --patch-from": patch?.path ?? "",
    })),
  ];
}

/**
 * Measures a delta of scattered writes.
 *
 * @param {Context} context
 * @param {Change} change
 */
export async function measureScattered(context, { name, ranges, changed }) {
  const { inputs, desync } = context;
  const { base, snapshot, image, folder } = inputs.ext4;
  const { delta, overlay } = filesOf(folder);
  const methods = [
    hedgerow("hedgerow, changed", "create", image, delta, { base: snapshot, changed }),
    makeOverlay(image, base, overlay),
    ...(desync === undefined ? [] : [desync.make(image)]),
  ];
  const timed = await takeTurns(methods, 1, { warmUps: 0 });
  const files = { "hedgerow, changed": delta, qcow2: overlay };
  return sizes(context, { name, ranges }, timed, files);
}

/**
 * Returns the bytes of the files of methods that did not fail, of the new chunks of desync, and of zstd over the
 * changed blocks.
 *
 * @param {Context} context
 * @param {Pick<Change, "name" | "ranges">} change
 * @param {Timed[]} timed
 * @param {Record<string, string>} files by method
 */
async function sizes({ inputs, desync }, { name: workload, ranges }, timed, files) {
  const { image, folder } = inputs.ext4;
  const { together, byPiece } = await compressedBlocks(image, ranges, folder);
  const sizeOf = (/** @type {string} */ method) =>
    method === "desync" ? desync?.newBytes : sizeOfFile(files[method]);
  const bytes = /** @type {Record<string, number | undefined>} */ ({
    "zstd -3 of the changed blocks": together,
    "zstd -3 of the changed blocks of each MiB": byPiece,
  });
  for (const { name, why } of timed) if (why === undefined) bytes[name] = sizeOf(name);
  const about = { suite: `${SUITE}, size`, workload, unit: "kB" };
  return Object.entries(bytes).flatMap(([method, size]) => {
    // All ways of creating a delta make the same file.
    const name = method === "hedgerow, changed" ? "hedgerow" : method;
    return size === undefined ? [] : [result(about, name, [size / 1000])];
  });
}

/** @param {string | undefined} path */
const sizeOfFile = (path) => (path === undefined ? undefined : statSync(path).size);
