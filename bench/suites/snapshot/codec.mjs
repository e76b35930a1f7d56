// Measures the codec and its rivals on frames of a real image: `codec.mjs IMAGE PLAN` with the plan as JSON. Prints its
// results as a JSON array.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import * as decode from "../../../js/snapshot/wasm/decode.js";
import * as encode from "../../../js/snapshot/wasm/encode.js";
import { measure } from "../../harness/measure.mjs";
import { dataPieces, zstdDecompressSync, zstdFrame } from "./frames.mjs";

const PIECE = 2 ** 20;

/** In nanoseconds. */
const MICROSECOND = 1000;

const [, , image = "", plan = ""] = process.argv;
/** @type {import("./plan.mjs").Plan} */
const { pieces: maxPieces, codecRounds } = JSON.parse(plan);

const wasm = (/** @type {string} */ path) => readFileSync(new URL(path, import.meta.url));
const own = new URL("../../../target/bench-wasm/", import.meta.url);
const rivals = await import(`${own}rivals.js`);
const { memory } = rivals.initSync({ module: wasm("../../../target/bench-wasm/rivals_bg.wasm") });
const { memory: decodeMemory } = decode.initSync({
  module: wasm("../../../js/snapshot/wasm/decode_bg.wasm"),
});
const { memory: encodeMemory } = encode.initSync({
  module: wasm("../../../js/snapshot/wasm/encode_bg.wasm"),
});

const all = [...dataPieces(image)];
const pieces = all.filter(
  (piece, index) => piece.length === PIECE && index % Math.ceil(all.length / maxPieces) === 0,
);

/** @typedef {{ raw: Uint8Array, frame: Uint8Array, record: Uint8Array }} Input */

const compressor = new encode.PieceCompressor(3, PIECE);
const decoder = decode.FrameDecoder.create(PIECE, false);

/** The decoder’s slot: frames are decoded one at a time. */
const SLOT = 0;
const other = new rivals.Rivals(PIECE);
if (decoder === undefined) throw new Error("expected a decoder, found too little memory");

/** Returns the first frame of a piece, as in a snapshot. @param {Uint8Array} raw @returns {Input[]} */
function inputOf(raw) {
  compress(raw);
  const run = new DataView(encodeMemory.buffer, compressor.runs());
  const length = run.getUint32(8, true);
  // Pieces with holes have several frames, which other compressors do not make.
  if (run.getFloat64(0, true) !== PIECE || length === 0) return [];
  const frame = new Uint8Array(encodeMemory.buffer, compressor.bytes(), length).slice();
  const record = new Uint8Array(64);
  new Uint32Array(record.buffer).set([PIECE, length], 4);
  record.set(new Uint8Array(encodeMemory.buffer, compressor.runs() + 16, 32), 32);
  return [{ raw, frame, record }];
}

/** @param {Uint8Array} raw */
function compress(raw) {
  new Uint8Array(encodeMemory.buffer).set(raw, compressor.piece());
  return compressor.compress(raw.length);
}

/** @param {Input} input */
function decodeFrame({ frame, record }) {
  new Uint8Array(decodeMemory.buffer).set(record, decoder?.record());
  // The memory may have grown, which replaces its buffer.
  const start = decoder?.begin(SLOT);
  new Uint8Array(decodeMemory.buffer).set(frame, start);
  return decoder?.finish(SLOT, frame.length) ?? -1;
}

/** Runs a rival on a frame. @param {(length: number) => number} action */
const onFrame =
  (action) =>
  (/** @type {undefined} */ _, /** @type {Input} */ { frame }) => {
    new Uint8Array(memory.buffer).set(frame, other.input());
    return action(frame.length);
  };

const inputs = pieces.flatMap(inputOf);
for (const input of inputs) {
  if (decodeFrame(input) < 1) throw new Error("a frame did not decode");
  const start = decoder.out();
  const raw = Buffer.from(decodeMemory.buffer, start, PIECE);
  if (!raw.equals(input.raw)) throw new Error("a frame decoded to other bytes");
  for (const decoded of [other.zstd, other.ruzstd]) {
    const length = onFrame((count) => decoded.call(other, count))(undefined, input);
    if (length !== PIECE) throw new Error(`expected ${PIECE} bytes, found ${length}`);
  }
}

const make = () => undefined;
/** @typedef {import("../../harness/measure.mjs").Method<Input, undefined>} Method */
/** @type {Record<string, Method[]>} */
const WORKLOADS = {
  "decode 1 MiB": [
    { name: "hedgerow", make, run: (_, input) => decodeFrame(input) },
    { name: "C zstd in wasm, nothing else", make, run: onFrame((count) => other.zstd(count)) },
    { name: "ruzstd in wasm", make, run: onFrame((count) => other.ruzstd(count)) },
    { name: "Node's own zstd", make, run: (_, { frame }) => zstdDecompressSync(frame) },
  ],
  "compress 1 MiB": [
    { name: "hedgerow", make, run: (_, { raw }) => compress(raw) },
    { name: "Node's own zstd", make, run: (_, { raw }) => zstdFrame(raw) },
  ],
  "digest of a frame": [
    { name: "hedgerow", make, run: onFrame((count) => other.blake3(count)) },
    { name: "SHA-256 in wasm", make, run: onFrame((count) => other.sha256(count)) },
    { name: "XXH64 in wasm", make, run: onFrame((count) => other.xxh64(count)) },
    { name: "XXH3 in wasm", make, run: onFrame((count) => other.xxh3(count)) },
    {
      name: "Node's own SHA-256",
      make,
      run: (_, { frame }) => createHash("sha256").update(frame).digest(),
    },
  ],
};

const results = Object.entries(WORKLOADS).flatMap(([workload, methods]) =>
  measure(methods, inputs, codecRounds, MICROSECOND).map((timing) => ({
    suite: "snapshot-codec",
    workload,
    unit: "µs",
    ...timing,
  })),
);
console.log(JSON.stringify(results));
