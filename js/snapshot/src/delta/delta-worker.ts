/** Worker thread that finds and compresses the blocks of pieces that changed. */
import { DeltaPieceCompressor, initSync } from "../../wasm/encode.js";
import type { Compressed } from "../encode/encode-image.js";
import type { EncodeData } from "../encode/encode-worker.js";
import { type CheckData, FrameCheck, lengthsOf } from "../encode/frame-check.js";
import { RUN_LENGTH } from "../encode/snapshot-encoder.js";
import { type ByteRange, toSet } from "../format/byte-ranges.js";
import { BLOCK_SIZE } from "../format/limits.js";
import { readWholeSync } from "../local/read-write.js";
import { errorOf, instantiate } from "../wasm/module.js";
import { type Job, serve } from "../workers/serve.js";
import { DELTA_PIECE_LENGTH, DELTA_RUN_LENGTH } from "./delta-encoder.js";
import {
  type DeltaTask,
  RangeKind,
  rangesOf,
  readImageRanges,
  type TaskRange,
  toBytes,
} from "./delta-task.js";

/** An image of a base that is open in all threads. */
export interface BaseImage {
  readonly fd: number;
  /** The name of the image in messages. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
}

/** The data of a thread that compresses a delta. */
export interface DeltaData extends EncodeData {
  /** Size of the image, in bytes. */
  readonly imageSize: number;
  /** The image of the base, if pieces are compared. */
  readonly base: BaseImage | undefined;
  readonly check: CheckData;
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

/** A piece that may have changed. */
interface Piece {
  /** Its first block. */
  readonly block: number;
  /** Its length in bytes. */
  readonly length: number;
  /** The candidates in it. */
  readonly ranges: readonly TaskRange[];
  /** The number of the first of them in the task. */
  readonly firstRange: number;
}

/** Returns the bytes of a piece that hold some of its ranges. */
function bytesIn({ block, length }: Piece, ranges: readonly TaskRange[]): ByteRange[] {
  const blocks = ranges.map(({ start, end }) => ({ start: start - block, end: end - block }));
  return toBytes(blocks, length);
}

/** Reads bytes of the image. */
function readImage({ image }: DeltaData, bytes: Uint8Array, position: number): void {
  readWholeSync("ERR_IMAGE", image, bytes, position, "ERR_IMAGE_CHANGED");
}

/** Reads the ranges of a task whose bytes follow each other in the file together. */
class RangeReader {
  #position = 0;
  #bytes = Buffer.alloc(0);

  constructor(
    private readonly data: DeltaData,
    private readonly ranges: readonly TaskRange[],
  ) {}

  /** Fills `bytes` with a range of the task. @param number its number in the task */
  read(bytes: Uint8Array, number: number): void {
    const { position } = this.ranges[number] as TaskRange;
    if (position < this.#position || position >= this.#position + this.#bytes.length) {
      this.#position = position;
      this.#bytes = Buffer.allocUnsafe(this.#lengthFrom(number));
      readImage(this.data, this.#bytes, position);
    }
    const start = position - this.#position;
    bytes.set(this.#bytes.subarray(start, start + bytes.length));
  }

  /** Returns the number of bytes that follow each other, from a range on. */
  #lengthFrom(number: number): number {
    const { position } = this.ranges[number] as TaskRange;
    let length = 0;
    for (let at = number; this.ranges[at]?.position === position + length; at += 1) {
      const { start, end } = this.ranges[at] as TaskRange;
      length += Math.min(end * BLOCK_SIZE, this.data.imageSize) - start * BLOCK_SIZE;
    }
    return length;
  }
}

/** Where the records and the bytes of the next piece begin, in those of the task. */
interface Written {
  readonly frames: number;
  readonly runs: number;
  readonly bytes: number;
}

/** Compresses the pieces of one delta. */
class DeltaJob implements Job<DeltaTask, DeltaBatch> {
  readonly #memory: WebAssembly.Memory;
  readonly #compressor: DeltaPieceCompressor;
  readonly #frameCheck: FrameCheck;
  /** The number of blocks in a piece. */
  readonly #blocks: number;

  constructor(private readonly data: DeltaData) {
    const { module, level, pieceSize, check, image } = data;
    this.#memory = instantiate(initSync, module).memory;
    this.#compressor = new DeltaPieceCompressor(level, pieceSize);
    this.#frameCheck = new FrameCheck(check, image.name, pieceSize);
    this.#blocks = pieceSize / BLOCK_SIZE;
  }

  run(task: DeltaTask): [DeltaBatch, ArrayBuffer[]] {
    const compressor = this.#compressor;
    compressor.clear();
    const length = this.#compressAll(rangesOf(task));
    const copy = (start: number, bytes: number) =>
      this.#memory.buffer.slice(start, start + bytes) as ArrayBuffer;
    const bytes = copy(compressor.bytes(), compressor.length());
    const pieces = copy(compressor.pieces(), compressor.piece_count() * DELTA_PIECE_LENGTH);
    const frameCount = compressor.frame_count();
    const frames = copy(compressor.frames(), frameCount * RUN_LENGTH);
    const runs = copy(compressor.runs(), compressor.run_count() * DELTA_RUN_LENGTH);
    const batch = { length, pieces, frames, frameCount, runs, bytes: new Uint8Array(bytes) };
    return [batch, [bytes, pieces, frames, runs]];
  }

  free(): void {
    this.#compressor.free();
    this.#frameCheck.free();
  }

  /** Compresses the pieces of a task. Returns their bytes in the image. */
  #compressAll(ranges: readonly TaskRange[]): number {
    const { pieceSize, imageSize, image } = this.data;
    const reader = new RangeReader(this.data, ranges);
    let total = 0;
    for (let next = 0; next < ranges.length; ) {
      const firstRange = next;
      const { start } = ranges[next] as TaskRange;
      const block = start - (start % this.#blocks);
      const length = Math.min(pieceSize, imageSize - block * BLOCK_SIZE);
      while ((ranges[next]?.start ?? Number.POSITIVE_INFINITY) < block + this.#blocks) next += 1;
      const piece = { block, length, ranges: ranges.slice(firstRange, next), firstRange };
      const before = this.#written();
      if (!this.#compress(piece, reader))
        throw errorOf("ERR_IMAGE", `${image.name}: `, this.#compressor.error(), this.#memory);
      const hasFrames = this.#compressor.frame_count() > before.frames;
      if (hasFrames && this.#frameCheck.isDue()) this.#check(piece, before);
      total += length;
    }
    return total;
  }

  /** Compresses a piece. Returns whether it is accepted. */
  #compress(piece: Piece, reader: RangeReader): boolean {
    const compressor = this.#compressor;
    const { block, length, ranges, firstRange } = piece;
    for (const { start, end, kind } of ranges)
      compressor.add_candidate(start - block, end - block, kind === RangeKind.COMPARED);
    const kind = ranges[0]?.kind;
    if (kind === RangeKind.AMONG_ZEROS || kind === RangeKind.AMONG_DATA) {
      for (const [at, { start, end }] of ranges.entries()) {
        const from = (start - block) * BLOCK_SIZE;
        const to = Math.min((end - block) * BLOCK_SIZE, length);
        reader.read(this.#view(compressor.piece(), from, to), firstRange + at);
      }
      return compressor.compress_changed(block, length, kind === RangeKind.AMONG_ZEROS);
    }
    readImageRanges(bytesIn(piece, ranges), length, (start, end) => {
      const bytes = this.#view(compressor.piece(), start, end);
      readImage(this.data, bytes, block * BLOCK_SIZE + start);
      return bytes;
    });
    const { base } = this.data;
    const isCompared = ranges.some((range) => range.kind === RangeKind.COMPARED);
    const baseLength = isCompared && base !== undefined ? this.#readBase(base, piece) : -1;
    return compressor.compress(block, length, baseLength);
  }

  /** Reads the compared ranges of the base's image. Returns the number of bytes to compare with: those before its end. */
  #readBase(base: BaseImage, piece: Piece): number {
    const offset = piece.block * BLOCK_SIZE;
    const compared = piece.ranges.filter(({ kind }) => kind === RangeKind.COMPARED);
    const end = Math.max(0, Math.min(base.size - offset, piece.length));
    for (const { start, end: stop } of toSet(bytesIn(piece, compared), end)) {
      const bytes = this.#view(this.#compressor.base(), start, stop);
      readWholeSync("ERR_CACHE", base, bytes, offset + start);
    }
    return end;
  }

  /** Checks the frames of the piece that was compressed. */
  #check(piece: Piece, before: Written): void {
    const compressor = this.#compressor;
    let start = compressor.bytes() + before.bytes;
    for (const [frame, bytes] of this.#partsOf(piece, before).entries()) {
      const record = compressor.frames() + (before.frames + frame) * RUN_LENGTH;
      const run = this.#view(record, 0, RUN_LENGTH);
      const [, compressedLength] = lengthsOf(run);
      this.#frameCheck.check(run, this.#view(start, 0, compressedLength), bytes);
      start += compressedLength;
    }
  }

  /** Returns the bytes of the piece that was compressed, for each of its frames. */
  #partsOf({ length }: Piece, before: Written): Uint8Array[][] {
    const compressor = this.#compressor;
    const count = compressor.frame_count() - before.frames;
    const parts = Array.from({ length: count }, (): Uint8Array[] => []);
    const words = new Uint32Array(
      this.#memory.buffer,
      compressor.runs(),
      3 * compressor.run_count(),
    );
    let start = 0;
    for (let at = 3 * before.runs; at < words.length; at += 3) {
      const [blocks = 0, frame = 0] = words.subarray(at, at + 2);
      const end = Math.min(start + blocks * BLOCK_SIZE, length);
      parts[frame]?.push(this.#view(compressor.piece(), start, end));
      start = end;
    }
    return parts;
  }

  #written(): Written {
    const compressor = this.#compressor;
    return {
      frames: compressor.frame_count(),
      runs: compressor.run_count(),
      bytes: compressor.length(),
    };
  }

  /** Returns bytes of WebAssembly memory. */
  #view(address: number, start: number, end: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, address + start, end - start);
  }
}

serve<DeltaData, DeltaTask, DeltaBatch>((data) => new DeltaJob(data));
