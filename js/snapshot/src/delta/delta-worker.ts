/** Worker thread that finds and compresses the blocks of pieces that changed. */
import { workerData } from "node:worker_threads";

import { DeltaPieceCompressor, initSync } from "../../wasm/encode.js";
import type { Compressed } from "../encode/compress-pieces.js";
import type { EncodeData } from "../encode/encode-worker.js";
import { readPiece } from "../encode/read-piece.js";
import { RUN_LENGTH } from "../encode/run-records.js";
import { BLOCK_SIZE } from "../format/limits.js";
import { toSet } from "../local/extents.js";
import { readWholeSync } from "../local/read-write.js";
import { instantiate } from "../wasm/instantiate.js";
import { errorOf } from "../wasm/wasm-error.js";
import { serve } from "../workers/serve.js";
import type { Candidate } from "./candidates.js";
import { DELTA_PIECE_LENGTH, DELTA_RUN_LENGTH } from "./delta-run-records.js";
import {
  AMONG_DATA,
  AMONG_ZEROS,
  CHANGED,
  COMPARED,
  type DeltaTask,
  RANGE_NUMBERS,
} from "./delta-task.js";
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
  /** Size of the image, in bytes. */
  readonly imageSize: number;
  /** The image of the base, if pieces are compared. */
  readonly base: BaseImage | undefined;
}

/** Pieces of a delta, in order. */
export interface DeltaBatch extends Compressed {
  /** Records of the pieces, `DELTA_PIECE_LENGTH` bytes each. */
  readonly pieces: ArrayBuffer;
  /** Records of their frames, `RUN_LENGTH` bytes each. */
  readonly frames: ArrayBuffer;
  readonly frameCount: number;
  /** Records of their runs, `DELTA_RUN_LENGTH` bytes each. */
  readonly runs: ArrayBuffer;
}

const data = workerData as DeltaData;
const { memory } = instantiate(initSync, data.module);
const compressor = new DeltaPieceCompressor(data.level, data.pieceSize);

/** The number of blocks in a piece. */
const BLOCKS = data.pieceSize / BLOCK_SIZE;

/** Returns bytes of the buffer of a piece in memory. */
const inMemory = (address: number, start: number, end: number) =>
  new Uint8Array(memory.buffer, address + start, end - start);

/** Reads the ranges of a task whose bytes follow each other in the file together. */
class RangeReader {
  readonly #numbers: Float64Array;
  #position = 0;
  #bytes = Buffer.alloc(0);

  constructor(numbers: Float64Array) {
    this.#numbers = numbers;
  }

  /** Fills `bytes` with the range whose first number is at `at`. */
  read(bytes: Uint8Array, at: number): void {
    const position = this.#numbers[at + 3] as number;
    if (position < this.#position || position >= this.#position + this.#bytes.length) {
      this.#position = position;
      this.#bytes = Buffer.allocUnsafe(this.#lengthFrom(at));
      readPiece(data, this.#bytes, position);
    }
    const start = position - this.#position;
    bytes.set(this.#bytes.subarray(start, start + bytes.length));
  }

  /** Returns the number of bytes that follow each other, from a range on. */
  #lengthFrom(at: number): number {
    const position = this.#numbers[at + 3] as number;
    let end = position;
    for (; this.#numbers[at + 3] === end; at += RANGE_NUMBERS) {
      const [first, last] = [this.#numbers[at] as number, this.#numbers[at + 1] as number];
      end += Math.min(last * BLOCK_SIZE, data.imageSize) - first * BLOCK_SIZE;
    }
    return end - position;
  }
}

/** A piece that may have changed. */
interface Piece {
  /** Its first block. */
  readonly block: number;
  /** Its length in bytes. */
  readonly length: number;
  /** The candidates in it, in blocks from its beginning, and where each is in the task. */
  readonly ranges: readonly (Candidate & { readonly at: number })[];
}

/** Reads a range of a piece of the image. */
function readRange(piece: Piece, start: number, end: number): Uint8Array {
  const bytes = inMemory(compressor.piece(), start, end);
  readPiece(data, bytes, piece.block * BLOCK_SIZE + start);
  return bytes;
}

/** Reads the compared ranges of the base's image. Returns the number of bytes to compare with: those before its end. */
function readBase(base: BaseImage, { block, length, ranges }: Piece): number {
  const offset = block * BLOCK_SIZE;
  const compared = toBytes(
    ranges.filter(({ isCompared }) => isCompared),
    length,
  );
  const end = Math.max(0, Math.min(base.size - offset, length));
  for (const { start, end: stop } of toSet(compared, end))
    readWholeSync("ERR_CACHE", base, inMemory(compressor.base(), start, stop), offset + start);
  return end;
}

/** Compresses a piece. @param kind of its last range. Returns whether it is accepted */
function compress(piece: Piece, kind: number, reader: RangeReader): boolean {
  const { block, length, ranges } = piece;
  for (const range of ranges) compressor.add_candidate(range.start, range.end, range.isCompared);
  if (kind === AMONG_ZEROS || kind === AMONG_DATA) {
    for (const { start, end, at } of ranges)
      reader.read(
        inMemory(compressor.piece(), start * BLOCK_SIZE, Math.min(end * BLOCK_SIZE, length)),
        at,
      );
    return compressor.compress_changed(block, length, kind === AMONG_ZEROS);
  }
  readImageRanges(toBytes(ranges, length), length, (start, end) => readRange(piece, start, end));
  const isCompared = ranges.some((range) => range.isCompared);
  const baseLength = isCompared && data.base !== undefined ? readBase(data.base, piece) : -1;
  return compressor.compress(block, length, baseLength);
}

/** Compresses the pieces of a task. Returns their bytes in the image. */
function compressAll(numbers: Float64Array): number {
  const reader = new RangeReader(numbers);
  let total = 0;
  for (let at = 0; at < numbers.length; ) {
    const first = numbers[at] as number;
    const block = first - (first % BLOCKS);
    const length = Math.min(data.pieceSize, data.imageSize - block * BLOCK_SIZE);
    const ranges: Piece["ranges"][number][] = [];
    let kind = CHANGED as number;
    for (; (numbers[at] ?? Number.POSITIVE_INFINITY) < block + BLOCKS; at += RANGE_NUMBERS) {
      kind = numbers[at + 2] as number;
      const [start, end] = [(numbers[at] as number) - block, (numbers[at + 1] as number) - block];
      ranges.push({ start, end, isCompared: kind === COMPARED, at });
    }
    if (!compress({ block, length, ranges }, kind, reader))
      throw errorOf("ERR_IMAGE", `${data.imageName}: `, compressor.error(), memory);
    total += length;
  }
  return total;
}

serve<DeltaTask, DeltaBatch>(({ ranges }) => {
  compressor.clear();
  const length = compressAll(ranges);
  const copy = (start: number, bytes: number) =>
    memory.buffer.slice(start, start + bytes) as ArrayBuffer;
  const bytes = copy(compressor.bytes(), compressor.length());
  const pieces = copy(compressor.pieces(), compressor.piece_count() * DELTA_PIECE_LENGTH);
  const frameCount = compressor.frame_count();
  const frames = copy(compressor.frames(), frameCount * RUN_LENGTH);
  const runs = copy(compressor.runs(), compressor.run_count() * DELTA_RUN_LENGTH);
  const batch = { length, pieces, frames, frameCount, runs, bytes: new Uint8Array(bytes) };
  return [batch, [bytes, pieces, frames, runs]];
});
