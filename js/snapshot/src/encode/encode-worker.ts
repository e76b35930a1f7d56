/** Worker thread that compresses pieces of an image. */
import { initSync, PieceCompressor } from "../../wasm/encode.js";
import { type NamedFile, readWholeSync } from "../local/read-write.js";
import { errorOf, instantiate } from "../wasm/module.js";
import { serve } from "../workers/serve.js";
import type { Compressed } from "./encode-image.js";
import { type CheckData, FrameCheck, lengthsOf } from "./frame-check.js";
import { RUN_LENGTH } from "./snapshot-encoder.js";

/** The data of an encoding thread. */
export interface EncodeData {
  /** The image, which is open in all threads. */
  readonly image: NamedFile;
  readonly module: WebAssembly.Module;
  readonly level: number;
  readonly pieceSize: number;
  /** Which frames to check. Without it, results have the records of the runs only, and no data. */
  readonly check: CheckData | undefined;
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

serve<EncodeData, Piece, CompressedPiece>((data) => {
  const { memory } = instantiate(initSync, data.module);
  const compressor = new PieceCompressor(data.level, data.pieceSize);
  const frameCheck = data.check && new FrameCheck(data.check, data.image.name, data.pieceSize);

  /** Checks the frames of the piece that was compressed. */
  const check = (to: FrameCheck, runCount: number) => {
    const bytes = (start: number, length: number) => new Uint8Array(memory.buffer, start, length);
    let at = compressor.piece();
    let start = compressor.bytes();
    for (let run = 0; run < runCount; run += 1) {
      const record = bytes(compressor.runs() + run * RUN_LENGTH, RUN_LENGTH);
      const [length, compressedLength] = lengthsOf(record);
      if (compressedLength > 0)
        to.check(record, bytes(start, compressedLength), [bytes(at, length)]);
      at += length;
      start += compressedLength;
    }
  };

  const run = ({ offset, length }: Piece): [CompressedPiece, ArrayBuffer[]] => {
    const piece = new Uint8Array(memory.buffer, compressor.piece(), length);
    readWholeSync("ERR_IMAGE", data.image, piece, offset, "ERR_IMAGE_CHANGED");
    const runCount = compressor.compress(length);
    if (runCount < 0)
      throw errorOf("ERR_IMAGE", `${data.image.name}: `, compressor.error(), memory);
    if (compressor.length() > 0 && frameCheck?.isDue()) check(frameCheck, runCount);
    const start = compressor.bytes();
    const runs = compressor.runs();
    const end = data.check === undefined ? start : start + compressor.length();
    const copy = memory.buffer.slice(start, end) as ArrayBuffer;
    const records = memory.buffer.slice(runs, runs + runCount * RUN_LENGTH) as ArrayBuffer;
    return [{ length, runs: records, bytes: new Uint8Array(copy) }, [copy, records]];
  };

  const free = () => {
    compressor.free();
    frameCheck?.free();
  };
  return { run, free };
});
