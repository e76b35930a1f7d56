// Times the steps of a restore in one thread: `parts.mjs SNAPSHOT IMAGE`. Prints the milliseconds of decoding all
// frames from memory and of writing all data as JSON.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { readManifest } from "../../../js/snapshot/dist/format/manifest.js";
import { SnapshotFile } from "../../../js/snapshot/dist/local/open-file.js";
import { compiledDecode } from "../../../js/snapshot/dist/wasm/compiled-decode.js";
import { FrameDecoder, initSync } from "../../../js/snapshot/wasm/decode.js";

const [, , snapshot = "", image = ""] = process.argv;
const file = await SnapshotFile.open(snapshot);
const { info, frames } = await readManifest(file);
await file.close();
const bytes = readFileSync(snapshot);
const { memory } = initSync({ module: await compiledDecode() });
const decoder = FrameDecoder.create(info.pieceSize, false);
if (decoder === undefined) throw new Error("expected a decoder, found too little memory");

/** The decoder’s slot: frames are decoded one at a time. */
const SLOT = 0;

/** Decodes a frame. Returns the bounds of its runs of data. @param {number} index */
function decode(index) {
  new Uint8Array(memory.buffer).set(frames.record(index), decoder?.record());
  const [start, length] = [frames.fileOffset(index), frames.compressedLength(index)];
  // The memory may have grown, which replaces its buffer.
  const input = decoder?.begin(SLOT);
  new Uint8Array(memory.buffer).set(bytes.subarray(start, start + length), input);
  const count = decoder?.finish(SLOT, length) ?? -1;
  if (count < 0) throw new Error(`frame ${index} did not decode`);
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

// The first pass compiles the code and records the runs of data.
const runs = indexes.map((index) => ({ index, bounds: decode(index).slice() }));
const decoding = time(() => {
  for (const index of indexes) decode(index);
});

// Writes the last decoded frame for every frame: its bytes are in the processor’s cache, as in a restore.
const writing = time(() => {
  const fd = openSync(image, "w");
  ftruncateSync(fd, info.imageSize);
  const out = decoder.out();
  for (const { index, bounds } of runs) {
    const [segment] = frames.segmentsOf(index);
    const position = frames.segment(segment).imageOffset;
    for (let run = 0; run < bounds.length; run += 2) {
      const [start = 0, end = 0] = bounds.subarray(run, run + 2);
      const data = new Uint8Array(memory.buffer, out + start, end - start);
      writeSync(fd, data, 0, data.length, position + start);
    }
  }
  closeSync(fd);
});
console.log(JSON.stringify({ decode: decoding, write: writing }));
