import type { PieceCounts } from "../encode/compress-pieces.js";
import { RUN_COMPRESSED_LENGTH, RUN_LENGTH } from "../encode/run-records.js";
import type { SnapshotEncoder } from "../encode/snapshot-encoder.js";
import type { Frames } from "../format/frames.js";
import { HEADER_LENGTH } from "../format/limits.js";
import { type Content, sizeOf } from "../s3/content.js";
import type { FlatPiece } from "./copied-pieces.js";
import type { CopyableObject } from "./copyable-object.js";

/** The frames of a snapshot, and the objects to copy them from, by their number. */
export interface CopiedFrames {
  readonly frames: Frames;
  readonly objects: ReadonlyMap<number, CopyableObject>;
  /** The size of the image and of a piece, in bytes. */
  readonly imageSize: number;
  readonly pieceSize: number;
}

/** Yields the contents of a snapshot, in order: the bytes of compressed pieces, and ranges with the others. */
export async function* contentsOf(
  encoder: SnapshotEncoder,
  pieces: AsyncIterable<FlatPiece>,
  from: CopiedFrames,
  counts: PieceCounts,
): AsyncGenerator<Content> {
  const contents = new Contents(encoder.header(), from);
  for await (const piece of pieces) {
    let start = 0;
    let at = 0;
    for (const run of recordsOf(piece.runs)) {
      const [length, compressedLength] = [run.getFloat64(0, true), lengthIn(run)];
      const bytes = piece.bytes.subarray(start, start + compressedLength);
      start += compressedLength;
      const record = run.buffer.slice(run.byteOffset, run.byteOffset + RUN_LENGTH) as ArrayBuffer;
      for (const chunk of encoder.push({ length, runs: record, bytes }))
        if (chunk.buffer !== bytes.buffer) contents.addHoleFrames(chunk);
      if (compressedLength === 0) contents.addZeros(length);
      else {
        const frame = piece.copied?.[at];
        yield* frame === undefined ? contents.addBytes(bytes) : contents.addFrame(frame);
        at += 1;
        counts.frames += 1;
        counts.compressedBytes += compressedLength;
      }
    }
    counts.bytes += piece.length;
  }
  yield* contents.addBytes(encoder.finish());
}

function* recordsOf(runs: ArrayBuffer): Generator<DataView> {
  for (let at = 0; at < runs.byteLength; at += RUN_LENGTH) yield new DataView(runs, at, RUN_LENGTH);
}

function lengthIn(run: DataView): number {
  return run.getUint32(RUN_COMPRESSED_LENGTH, true);
}

/** Joins adjacent frames of an object, and the holes between them, to one range. */
class Contents {
  readonly #from: CopiedFrames;
  #isStart = true;
  #copy: { object: CopyableObject; start: number; end: number } | undefined;
  /** The bytes after the copy, which are the header or frames of a hole. */
  #bytes: Uint8Array[];
  /** The length of the hole after the last frame, in bytes of the image. */
  #zeros = 0;

  constructor(header: Uint8Array, from: CopiedFrames) {
    this.#from = from;
    this.#bytes = [header];
  }

  addZeros(length: number): void {
    this.#zeros += length;
  }

  addHoleFrames(bytes: Uint8Array): void {
    this.#bytes.push(bytes);
  }

  *addBytes(bytes: Uint8Array): Generator<Content> {
    yield* this.#flush();
    yield bytes;
  }

  *addFrame(frame: number): Generator<Content> {
    const { frames, objects } = this.#from;
    const object = objects.get(frames.object(frame)) as CopyableObject;
    const start = frames.fileOffset(frame);
    const end = start + frames.compressedLength(frame);
    const before = this.#before(object);
    if (before !== undefined && object.hasHole(before.end, start, this.#zeros)) {
      this.#copy = { ...before, end };
      this.#begin();
      return;
    }
    yield* this.#flush();
    this.#copy = { object, start, end };
  }

  /** Returns the range that ends with the last frame, or with the header, if it is in the same object. */
  #before(object: CopyableObject) {
    const { imageSize, pieceSize } = this.#from;
    if (this.#isStart && object.hasHeader(imageSize, pieceSize))
      return { object, start: 0, end: HEADER_LENGTH };
    return this.#copy?.object === object ? this.#copy : undefined;
  }

  *#flush(): Generator<Content> {
    if (this.#copy !== undefined) {
      const { object, start, end } = this.#copy;
      yield { source: object.source, start, end };
    }
    this.#copy = undefined;
    yield* this.#bytes.filter((bytes) => sizeOf(bytes) > 0);
    this.#begin();
  }

  /** Begins to collect what follows a frame. */
  #begin(): void {
    [this.#isStart, this.#bytes, this.#zeros] = [false, [], 0];
  }
}
