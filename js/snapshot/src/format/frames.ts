import type { ByteRange } from "./byte-ranges.js";

/** The length of a frame's record in `decode.wasm`, in bytes. */
const RECORD_LENGTH = 64;

/** The length of a segment's record, in bytes. */
const SEGMENT_LENGTH = 16;

/** The offset of the digest in a frame's record, in bytes. */
const DIGEST = 32;

/** The numbers of the 32-bit words of a frame's record that hold its lengths: of its data, and in its file. */
const RAW_LENGTH = 4;
const COMPRESSED_LENGTH = 5;

/** A part of the image that is data. */
export interface Segment {
  /** Its offset in the image, in bytes. */
  readonly imageOffset: number;
  /** Its offset in the data of its frame, in bytes. */
  readonly frameOffset: number;
  /** Its length, in bytes. */
  readonly length: number;
}

/** The memory of {@link Frames}, which workers share. */
export interface FrameRecords {
  readonly records: ArrayBufferLike;
  readonly segments: ArrayBufferLike;
  /** The number of each frame's first segment, and the number of all segments. */
  readonly segmentStarts: ArrayBufferLike;
}

/** Memory that workers can share, where there is any: browsers have it only in pages that ask for isolation. */
const Memory = globalThis.SharedArrayBuffer ?? ArrayBuffer;

/**
 * The frames of a snapshot, as records in memory that the workers share, and which parts of the image each of them
 * holds: its segments, in the order of the image. A frame of a snapshot has one segment, and a hole has none; in a
 * delta a frame may have several, and blocks that no segment uses.
 */
export class Frames {
  /** The number of frames. */
  readonly count: number;
  readonly #doubles: Float64Array;
  readonly #words: Uint32Array;
  readonly #bytes: Uint8Array;
  readonly #offsets: Float64Array;
  readonly #lengths: Uint32Array;
  readonly #starts: Uint32Array;

  constructor(readonly shared: FrameRecords) {
    const { records, segments, segmentStarts } = shared;
    this.count = records.byteLength / RECORD_LENGTH;
    this.#doubles = new Float64Array(records);
    this.#words = new Uint32Array(records);
    this.#bytes = new Uint8Array(records);
    this.#offsets = new Float64Array(segments);
    this.#lengths = new Uint32Array(segments);
    this.#starts = new Uint32Array(segmentStarts);
  }

  /** Copies the records of frames and segments out of WebAssembly memory. */
  static copy(
    memory: WebAssembly.Memory,
    frames: { readonly start: number; readonly count: number },
    segments: { readonly start: number; readonly count: number; readonly starts: number },
  ): Frames {
    const copy = (start: number, length: number) => {
      const copied = new Memory(length);
      new Uint8Array(copied).set(new Uint8Array(memory.buffer, start, length));
      return copied;
    };
    return new Frames({
      records: copy(frames.start, frames.count * RECORD_LENGTH),
      segments: copy(segments.start, segments.count * SEGMENT_LENGTH),
      segmentStarts: copy(segments.starts, (frames.count + 1) * Uint32Array.BYTES_PER_ELEMENT),
    });
  }

  /** Returns the offset of the frame in its file, in bytes. */
  fileOffset(index: number): number {
    return this.#doubles[index * 8 + 1] as number;
  }

  /** Returns the length of the frame's data, in bytes. */
  rawLength(index: number): number {
    return this.#words[index * 16 + RAW_LENGTH] as number;
  }

  /** Returns the length of the frame in its file, in bytes. */
  compressedLength(index: number): number {
    return this.#words[index * 16 + COMPRESSED_LENGTH] as number;
  }

  /** Returns whether the frame is a hole. */
  isHole(index: number): boolean {
    return ((this.#words[index * 16 + 6] as number) & 0xff) !== 0;
  }

  /** Returns the number of the file that holds the frame: 0 is the snapshot itself, 1 its first base object. */
  object(index: number): number {
    return (this.#words[index * 16 + 6] as number) >>> 8;
  }

  /** Returns the frame's record, for `decode.wasm`. */
  record(index: number): Uint8Array {
    return this.#bytes.subarray(index * RECORD_LENGTH, (index + 1) * RECORD_LENGTH);
  }

  /** Returns the digest of the frame's bytes in its file. */
  digest(index: number): Uint8Array {
    return this.#bytes.subarray(index * RECORD_LENGTH + DIGEST, (index + 1) * RECORD_LENGTH);
  }

  /** The number of segments of all frames. */
  get segmentCount(): number {
    return this.#starts[this.count] as number;
  }

  /** Returns the numbers of a frame's segments: the first, and the one after the last. */
  segmentsOf(index: number): readonly [number, number] {
    return [this.#starts[index] as number, this.#starts[index + 1] as number];
  }

  /** Returns a segment by its number. */
  segment(number: number): Segment {
    return {
      imageOffset: this.segmentStart(number),
      frameOffset: this.#lengths[number * 4 + 2] as number,
      length: this.segmentLength(number),
    };
  }

  /** Returns the offset of a segment in the image, in bytes. */
  segmentStart(number: number): number {
    return this.#offsets[number * 2] as number;
  }

  /** Returns the length of a segment, in bytes. */
  segmentLength(number: number): number {
    return this.#lengths[number * 4 + 3] as number;
  }

  /** Returns the frame of each segment. */
  framesOfSegments(): Uint32Array {
    const frames = new Uint32Array(this.segmentCount);
    for (let frame = 0; frame < this.count; frame += 1) {
      const [first, end] = this.segmentsOf(frame);
      for (let number = first; number < end; number += 1) frames[number] = frame;
    }
    return frames;
  }

  /** Returns a frame's segments, in the order of the image. */
  segments(index: number): Segment[] {
    const [first, end] = this.segmentsOf(index);
    return Array.from({ length: end - first }, (_, at) => this.segment(first + at));
  }

  /** Returns the numbers of all segments, in the order of the image. */
  segmentsInOrder(): Uint32Array {
    const numbers = new Uint32Array(this.segmentCount);
    const offset = (number: number) => this.segmentStart(number);
    // Those of a full snapshot are in order.
    let isOrdered = true;
    for (let number = 0; number < numbers.length; number += 1) {
      numbers[number] = number;
      if (number > 0 && offset(number - 1) >= offset(number)) isOrdered = false;
    }
    return isOrdered ? numbers : numbers.sort((a, b) => offset(a) - offset(b));
  }

  /** Yields the ranges of the image that are data, in order: one for each segment. */
  *extents(): Generator<ByteRange> {
    for (const number of this.segmentsInOrder()) {
      const start = this.segmentStart(number);
      yield { start, end: start + this.segmentLength(number) };
    }
  }

  /** Returns the number of bytes of the image that a frame holds. */
  usedLength(index: number): number {
    const [first, end] = this.segmentsOf(index);
    let length = 0;
    for (let number = first; number < end; number += 1) length += this.segmentLength(number);
    return length;
  }
}

/** The longest gap between frames that are read together, in bytes: it costs less than another request. */
const MAX_GAP = 2 ** 16;

/** Frames that are read together. */
interface NearFrames {
  /** The number of their file: see {@link Frames.object}. */
  readonly object: number;
  /** The offset of the first in the file, in bytes. */
  readonly offset: number;
  /** From the first to the end of the last, in bytes. */
  length: number;
  /** In the order of the file. */
  readonly frames: number[];
}

/**
 * Divides frames into those to read together: of one file, with gaps of at most `maxGap` bytes, and of at most
 * `maxLength` bytes unless a frame is longer.
 */
export function nearFrames(
  frames: Frames,
  wanted: Iterable<number>,
  maxLength: number,
  maxGap = MAX_GAP,
): NearFrames[] {
  const sorted = [...wanted].sort(
    (a, b) => frames.object(a) - frames.object(b) || frames.fileOffset(a) - frames.fileOffset(b),
  );
  const parts: NearFrames[] = [];
  for (const frame of sorted) {
    const object = frames.object(frame);
    const offset = frames.fileOffset(frame);
    const end = offset + frames.compressedLength(frame);
    const last = parts.at(-1);
    const isNear =
      last?.object === object &&
      offset - (last.offset + last.length) <= maxGap &&
      end - last.offset <= maxLength;
    if (isNear) {
      last.length = Math.max(last.length, end - last.offset);
      last.frames.push(frame);
    } else {
      parts.push({ object, offset, length: end - offset, frames: [frame] });
    }
  }
  return parts;
}

/** Returns the record of a frame of data, for `decode.wasm`. The lengths are in bytes. */
export function frameRecord(
  rawLength: number,
  compressedLength: number,
  digest: Uint8Array,
): Uint8Array {
  const record = new Uint8Array(RECORD_LENGTH);
  const words = new Uint32Array(record.buffer);
  words[RAW_LENGTH] = rawLength;
  words[COMPRESSED_LENGTH] = compressedLength;
  record.set(digest, DIGEST);
  return record;
}
