/** Worker thread that compresses pieces of an image. */
import { workerData } from "node:worker_threads";

import { initSync, PieceCompressor } from "../../wasm/encode.js";
import { type NamedFile, readWholeSync } from "../local/read-write.js";
import { errorOf, instantiate } from "../wasm/module.js";
import { serve } from "../workers/serve.js";
import type { Compressed } from "./encode-image.js";
import { RUN_LENGTH } from "./snapshot-encoder.js";

/** Start-up data of an encoding thread. */
export interface EncodeData {
  /** The image, which is open in all threads. */
  readonly image: NamedFile;
  readonly module: WebAssembly.Module;
  readonly level: number;
  readonly pieceSize: number;
  /** Whether results have the records of the runs only, and no data. Default: `false`. */
  readonly recordsOnly?: boolean;
}

/** A piece of the image. Offset and length are in bytes. */
export interface Piece {
  readonly offset: number;
  readonly length: number;
}

/** A compressed piece. */
export interface CompressedPiece extends Compressed {
  /** Records of its runs, `RUN_LENGTH` bytes each. */
  readonly runs: ArrayBuffer;
}

const data = workerData as EncodeData;
const { memory } = instantiate(initSync, data.module);
const compressor = new PieceCompressor(data.level, data.pieceSize);

serve<Piece, CompressedPiece>(({ offset, length }) => {
  const piece = new Uint8Array(memory.buffer, compressor.piece(), length);
  readWholeSync("ERR_IMAGE", data.image, piece, offset, "ERR_IMAGE_CHANGED");
  const runCount = compressor.compress(length);
  if (runCount < 0) throw errorOf("ERR_IMAGE", `${data.image.name}: `, compressor.error(), memory);
  const start = compressor.bytes();
  const runs = compressor.runs();
  const end = data.recordsOnly ? start : start + compressor.length();
  const copy = memory.buffer.slice(start, end) as ArrayBuffer;
  const records = memory.buffer.slice(runs, runs + runCount * RUN_LENGTH) as ArrayBuffer;
  return [{ length, runs: records, bytes: new Uint8Array(copy) }, [copy, records]];
});
