// Measures the codec and its rivals on frames of a real image.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import * as decode from "../../../js/snapshot/wasm/decode.js";
import * as encode from "../../../js/snapshot/wasm/encode.js";
import { measure as measureMethods } from "../../harness/measure.mjs";
import { methodsOf } from "../../harness/methods.mjs";
import { itself, resultsOf } from "../../harness/results.mjs";
import { dataPieces, zstdDecompressSync, zstdFrame } from "./images.mjs";

const PIECE = 2 ** 20;

/** In nanoseconds. */
const MICROSECOND = 1000;

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
  (/** @type {unknown} */ _, /** @type {Input} */ { frame }) => {
    new Uint8Array(memory.buffer).set(frame, other.input());
    return action(frame.length);
  };

const make = (/** @type {Input} */ _) => undefined;
const WORKLOADS = {
  "decode 1 MiB": methodsOf(make, {
    hedgerow: (_, input) => decodeFrame(input),
    "C zstd in wasm, nothing else": onFrame((count) => other.zstd(count)),
    "ruzstd in wasm": onFrame((count) => other.ruzstd(count)),
    "Node's own zstd": (_, { frame }) => zstdDecompressSync(frame),
  }),
  "compress 1 MiB": methodsOf(make, {
    hedgerow: (_, { raw }) => compress(raw),
    "Node's own zstd": (_, { raw }) => zstdFrame(raw),
  }),
  "digest of a frame": methodsOf(make, {
    hedgerow: onFrame((count) => other.blake3(count)),
    "SHA-256 in wasm": onFrame((count) => other.sha256(count)),
    "XXH64 in wasm": onFrame((count) => other.xxh64(count)),
    "XXH3 in wasm": onFrame((count) => other.xxh3(count)),
    "Node's own SHA-256": (_, { frame }) => createHash("sha256").update(frame).digest(),
  }),
};

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ image, plan }) {
  const all = [...dataPieces(image)];
  const every = Math.ceil(all.length / plan.pieces);
  const pieces = all.filter((piece, index) => piece.length === PIECE && index % every === 0);
  const inputs = pieces.flatMap(inputOf);
  for (const input of inputs) check(input);
  const results = [];
  for (const [workload, methods] of Object.entries(WORKLOADS)) {
    const timed = await measureMethods(methods, inputs, plan.codecRounds, MICROSECOND);
    results.push(...resultsOf({ suite: "snapshot-codec", workload, unit: "µs" }, timed, itself));
  }
  return results;
}

/** Checks that all decoders restore a piece. @param {Input} input */
function check(input) {
  if (decodeFrame(input) < 1) throw new Error("a frame did not decode");
  const raw = Buffer.from(decodeMemory.buffer, decoder?.out(), PIECE);
  if (!raw.equals(input.raw)) throw new Error("a frame decoded to other bytes");
  for (const decoded of [other.zstd, other.ruzstd]) {
    const length = onFrame((count) => decoded.call(other, count))(undefined, input);
    if (length !== PIECE) throw new Error(`expected ${PIECE} bytes, found ${length}`);
  }
}
