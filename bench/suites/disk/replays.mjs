// Replays the reads of a boot without pauses, over sizes of pieces.
import { createHash } from "node:crypto";
import { closeSync, copyFileSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot } from "../../../js/snapshot/dist/index.js";
import { itself, result, resultsOf } from "../../harness/results.mjs";
import { FAST, startServer } from "../../harness/server.mjs";
import { log, takeTurns } from "../../harness/turns.mjs";
import { about, inNewFolder, readPart, withDisk } from "./disks.mjs";
import { firstByte } from "./first-byte.mjs";
import { MAIN_PIECE, PIECES } from "./suite.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Read } from "./boot.mjs" */
/** @import { Options } from "./disks.mjs" */
/** @import { Context } from "./first-byte.mjs" */

/** @param {Context} context */
export async function measurePieces(context) {
  const { folder, image, traces } = context.inputs;
  const results = /** @type {Measured[]} */ ([]);
  for (const [name, pieceSize] of Object.entries(PIECES)) {
    log(`pieces of ${name}`);
    const snapshot = join(folder, "pieces.vhs");
    await createSnapshot(image, snapshot, { pieceSize });
    const size = statSync(snapshot).size / 1e6;
    results.push(result(about("pieces, size", name, "MB"), "hedgerow", [size]));
    copyFileSync(traces.boot, `${snapshot}.trace`);
    const server = await startServer(FAST, { files: [snapshot, `${snapshot}.trace`] });
    try {
      results.push(...(await measurePiece(context, name, server.url(snapshot))));
    } finally {
      await server.stop();
      for (const path of [snapshot, `${snapshot}.trace`]) rmSync(path);
    }
  }
  return results;
}

/** @param {Context} context @param {string} name @param {string} url */
async function measurePiece({ inputs, plan }, name, url) {
  const { folder, image, blocks, reads } = inputs;
  const offset = blocks[blocks.length >> 1] ?? 0;
  const expectedBlock = readPart(image, offset, 4096);
  const work = {
    offset,
    expected: expectedBlock,
    options: { trace: /** @type {const} */ (false) },
  };
  const first = await takeTurns([firstByte("hedgerow", folder, url, work)], plan.fastRounds);
  const expected = replayFile(image, reads).digest;
  const through = (/** @type {string} */ method, /** @type {Options} */ options) => ({
    name: method,
    time: () =>
      inNewFolder(folder, async (own) => {
        const begin = performance.now();
        return withDisk(own, url, options, async (disk) => {
          const found = [];
          for (const [at, length] of reads) found.push(await disk.read(at, length));
          const elapsed = performance.now() - begin;
          if (digestOf(found) !== expected) throw new Error("a read returned other bytes");
          return elapsed;
        });
      }),
  });
  const methods = [
    through("hedgerow", {}),
    through("hedgerow, no trace", { trace: false }),
    { name: "local file", time: () => replayFile(image, reads).elapsed },
  ];
  if (name === MAIN_PIECE) {
    methods.push(through("hedgerow, on demand", { trace: false, fill: "none" }));
  }
  const bytes = reads.reduce((sum, [, length]) => sum + length, 0);
  return [
    ...resultsOf(about("pieces, first byte", name), first, itself),
    ...resultsOf(
      about("replay", name),
      await takeTurns(methods, plan.rounds, { warmUps: 0 }),
      itself,
      {
        reads: reads.length,
        bytes,
      },
    ),
  ];
}

/** @param {string} image @param {readonly Read[]} reads */
function replayFile(image, reads) {
  const fd = openSync(image, "r");
  const begin = performance.now();
  const found = reads.map(([at, length]) => {
    const bytes = Buffer.allocUnsafe(length);
    readSync(fd, bytes, 0, length, at);
    return bytes;
  });
  const elapsed = performance.now() - begin;
  closeSync(fd);
  return { elapsed, digest: digestOf(found) };
}

/** @param {readonly Buffer[]} parts */
function digestOf(parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
