/** Worker thread that compresses pieces of an image. */
import { workerData } from "node:worker_threads";

import { initSync, PieceCompressor } from "../../wasm/encode.js";
import { SnapshotError } from "../error.js";
import { readFullySync } from "../local/read-fully.js";
import { wrapSystemErrorsSync } from "../local/system-errors.js";
import { errorOf } from "../wasm/wasm-error.js";
import { serve } from "../workers/serve.js";
import { RUN_LENGTH } from "./run-records.js";

/** Start-up data of an encoding thread. */
export interface EncodeData {
  readonly module: WebAssembly.Module;
  readonly level: number;
  readonly pieceSize: number;
  /** File descriptor of the image, and its name in messages. */
  readonly image: number;
  readonly imageName: string;
}

/** A piece of the image. Offset and length are in bytes. */
export interface Piece {
  readonly offset: number;
  readonly length: number;
}

/** A compressed piece. */
export interface CompressedPiece {
  /** Length of the piece in the image, in bytes. */
  readonly length: number;
  /** Records of its runs, `RUN_LENGTH` bytes each. */
  readonly runs: ArrayBuffer;
  /** Concatenated data of its runs. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const data = workerData as EncodeData;
const { memory } = initSync({ module: data.module });
const compressor = new PieceCompressor(data.level, data.pieceSize);

serve<Piece, CompressedPiece>(({ offset, length }) => {
  const piece = new Uint8Array(memory.buffer, compressor.piece(), length);
  const count = wrapSystemErrorsSync("ERR_IMAGE", `cannot read ${data.imageName}`, () =>
    readFullySync(data.image, piece, offset),
  );
  if (count < length) {
    const end = offset + count;
    throw new SnapshotError(
      "ERR_IMAGE_CHANGED",
      `${data.imageName} was truncated while it was read: it now ends at byte ${end}`,
    );
  }
  const runCount = compressor.compress(length);
  if (runCount < 0) throw errorOf("ERR_IMAGE", `${data.imageName}: `, compressor.error(), memory);
  const [start, runs] = [compressor.bytes(), compressor.runs()];
  const copy = memory.buffer.slice(start, start + compressor.length()) as ArrayBuffer;
  const records = memory.buffer.slice(runs, runs + runCount * RUN_LENGTH) as ArrayBuffer;
  return [{ length, runs: records, bytes: new Uint8Array(copy) }, [copy, records]];
});
