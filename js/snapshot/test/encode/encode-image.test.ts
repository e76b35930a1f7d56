/** How far pieces of an image are compressed ahead of what consumes them. */
import { expect, test } from "vitest";

import { type Compressed, compressPieces } from "../../src/encode/encode-image.js";

test.each([
  { pieceSize: 2 ** 12, ahead: 4 },
  { pieceSize: 2 ** 20, ahead: 4 },
  { pieceSize: 2 ** 21, ahead: 2 },
  { pieceSize: 2 ** 24, ahead: 1 },
])("holds $ahead pieces of $pieceSize bytes for each thread", async ({ pieceSize, ahead }) => {
  const workers = 2;
  let taken = 0;
  function* tasks() {
    for (; taken < 100; taken += 1) yield taken;
  }
  const known = (): Compressed => ({ length: 0, bytes: new Uint8Array(0) });
  // The threads answer nothing but that they are there, since every result is known.
  const script = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {}); parentPort.postMessage("loaded");`;
  const pieces = {
    tasks: tasks(),
    count: 100,
    totalBytes: 0,
    pieceSize,
    script,
    data: undefined,
    known,
  };
  await compressPieces("create", pieces, { workers }, async (results) => {
    await results[Symbol.asyncIterator]().next();
  });
  expect(taken).toBe(workers * ahead);
});
