/** Worker thread that compresses pieces of an image. */
import { workerData } from "node:worker_threads";

import { initSync, PieceCompressor } from "../../wasm/encode.js";
import { instantiate } from "../wasm/instantiate.js";
import { errorOf } from "../wasm/wasm-error.js";
import { serve } from "../workers/serve.js";
import type { Compressed } from "./compress-pieces.js";
import { readPiece, type SharedImage } from "./read-piece.js";
import { RUN_LENGTH } from "./run-records.js";

/** Start-up data of an encoding thread. */
export interface EncodeData extends SharedImage {
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
  readPiece(data, new Uint8Array(memory.buffer, compressor.piece(), length), offset);
  const runCount = compressor.compress(length);
  if (runCount < 0) throw errorOf("ERR_IMAGE", `${data.imageName}: `, compressor.error(), memory);
  const [start, runs] = [compressor.bytes(), compressor.runs()];
  const end = data.recordsOnly ? start : start + compressor.length();
  const copy = memory.buffer.slice(start, end) as ArrayBuffer;
  const records = memory.buffer.slice(runs, runs + runCount * RUN_LENGTH) as ArrayBuffer;
  return [{ length, runs: records, bytes: new Uint8Array(copy) }, [copy, records]];
});
