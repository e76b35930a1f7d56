/** Worker thread that finds and compresses the blocks of pieces that changed. */
import { workerData } from "node:worker_threads";

import { DeltaPieceCompressor, initSync } from "../../wasm/encode.js";
import type { Compressed } from "../encode/compress-pieces.js";
import type { EncodeData } from "../encode/encode-worker.js";
import { readPiece } from "../encode/read-piece.js";
import { RUN_LENGTH } from "../encode/run-records.js";
import type { Extent } from "../local/data-extents.js";
import { toSet } from "../local/extents.js";
import { readWholeSync } from "../local/read-whole.js";
import { errorOf } from "../wasm/wasm-error.js";
import { serve } from "../workers/serve.js";
import type { DeltaTask } from "./delta-pieces.js";
import { DELTA_RUN_LENGTH } from "./delta-run-records.js";
import { readImageRanges, toBytes } from "./read-ranges.js";

/** An image of a base that is open in all threads. */
export interface BaseImage {
  readonly fd: number;
  /** The name of the image in messages. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
}

/** Start-up data of a thread. */
export interface DeltaData extends EncodeData {
  /** The image of the base, if pieces are compared. */
  readonly base: BaseImage | undefined;
}

/** A piece of a delta. */
export interface DeltaPiece extends Compressed {
  readonly offset: number;
  /** Records of its frames, `RUN_LENGTH` bytes each. */
  readonly frames: ArrayBuffer;
  /** Records of its runs, `DELTA_RUN_LENGTH` bytes each. */
  readonly runs: ArrayBuffer;
}

const data = workerData as DeltaData;
const { memory } = initSync({ module: data.module });
const compressor = new DeltaPieceCompressor(data.level, data.pieceSize);

/** Returns bytes of the buffer of a piece in memory. */
const inMemory = (address: number, start: number, end: number) =>
  new Uint8Array(memory.buffer, address + start, end - start);

/** Reads the ranges of a piece of the image that its compression needs. */
function readImage({ offset, length }: DeltaTask, ranges: readonly Extent[]): void {
  readImageRanges(ranges, length, (start, end) => {
    const bytes = inMemory(compressor.piece(), start, end);
    readPiece(data, bytes, offset + start);
    return bytes;
  });
}

/** Reads the compared ranges of the base's image. Returns the number of bytes to compare with: those before its end. */
function readBase(base: BaseImage, { offset, length, ranges }: DeltaTask): number {
  const compared = toBytes(
    ranges.filter(({ isCompared }) => isCompared),
    length,
  );
  const end = Math.max(0, Math.min(base.size - offset, length));
  for (const { start, end: stop } of toSet(compared, end))
    readWholeSync("ERR_CACHE", base, inMemory(compressor.base(), start, stop), offset + start);
  return end;
}

serve<DeltaTask, DeltaPiece>((task) => {
  const { offset, length, ranges } = task;
  readImage(task, toBytes(ranges, length));
  const isCompared = ranges.some((range) => range.isCompared);
  const baseLength = isCompared && data.base !== undefined ? readBase(data.base, task) : -1;
  for (const range of ranges) compressor.add_candidate(range.start, range.end, range.isCompared);
  const count = compressor.compress(length, baseLength);
  if (count < 0) throw errorOf("ERR_IMAGE", `${data.imageName}: `, compressor.error(), memory);
  const copy = (start: number, bytes: number) =>
    memory.buffer.slice(start, start + bytes) as ArrayBuffer;
  const bytes = copy(compressor.bytes(), compressor.length());
  const frames = copy(compressor.frames(), count * RUN_LENGTH);
  const runs = copy(compressor.runs(), compressor.run_count() * DELTA_RUN_LENGTH);
  return [{ offset, length, frames, runs, bytes: new Uint8Array(bytes) }, [bytes, frames, runs]];
});
