// What restoring consists of, each part alone, in one thread: `parts.mjs SNAPSHOT IMAGE`. Prints how many
// milliseconds it takes to decode all frames from memory, and to write all data, as JSON.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { readManifest } from "../../../js/snapshot/dist/format/manifest.js";
import { SnapshotFile } from "../../../js/snapshot/dist/local/snapshot-file.js";
import { compiledModule } from "../../../js/snapshot/dist/wasm/module.js";
import { FrameDecoder, initSync } from "../../../js/snapshot/wasm/decode.js";

const [, , snapshot = "", image = ""] = process.argv;
const file = await SnapshotFile.open(snapshot);
const { info, frames } = await readManifest(file);
await file.close();
const bytes = readFileSync(snapshot);
const { memory } = initSync({ module: await compiledModule("decode") });
const decoder = FrameDecoder.create(info.pieceSize, false);
if (decoder === undefined) throw new Error("expected memory for a decoder");
/** Where the frame is that is decoded: there is one at a time. */
const SLOT = 0;

/** Decodes a frame. Returns where the runs lie that have data. @param {number} index */
function decode(index) {
  new Uint8Array(memory.buffer).set(frames.record(index), decoder?.record());
  const [start, length] = [frames.fileOffset(index), frames.compressedLength(index)];
  // There may be more memory than before, which is another buffer.
  const input = decoder?.begin(SLOT);
  new Uint8Array(memory.buffer).set(bytes.subarray(start, start + length), input);
  const count = decoder?.finish(SLOT, length) ?? -1;
  if (count < 0) throw new Error(`expected frame ${index} to decode`);
  return new Uint32Array(memory.buffer, decoder?.runs(), 2 * count);
}

const indexes = Array.from({ length: frames.count }, (_, index) => index).filter(
  (index) => !frames.isHole(index),
);

/** @param {() => void} action */
function time(action) {
  const start = performance.now();
  action();
  return performance.now() - start;
}

// The first time, the engine compiles, and where the data lies is noted.
const runs = indexes.map((index) => ({ index, bounds: decode(index).slice() }));
const decoding = time(() => {
  for (const index of indexes) decode(index);
});

/** Writes as many bytes as there are where they are, though not those: what was decoded last is in the cache, as it is when it is written at once. */
const writing = time(() => {
  const fd = openSync(image, "w");
  ftruncateSync(fd, info.imageSize);
  const out = decoder.out();
  for (const { index, bounds } of runs) {
    const position = frames.imageOffset(index);
    for (let run = 0; run < bounds.length; run += 2) {
      const [start = 0, end = 0] = bounds.subarray(run, run + 2);
      const data = new Uint8Array(memory.buffer, out + start, end - start);
      writeSync(fd, data, 0, data.length, position + start);
    }
  }
  closeSync(fd);
});
console.log(JSON.stringify({ decode: decoding, write: writing }));
