import { FrameDecoder, initSync } from "../../wasm/decode.js";
import { SnapshotError } from "../error.js";
import { BlockSet } from "../format/block-set.js";
import { type FrameRecords, Frames, type Segment } from "../format/frames.js";
import { zeroRangeSync } from "../local/disk-space.js";
import { checkLengthSync, readFullySync, writeFullySync } from "../local/read-write.js";
import { wrapSystemErrorsSync } from "../local/system-errors.js";
import { errorOf, instantiate } from "../wasm/module.js";
import { FrameStates } from "./frame-states.js";
import { SharedCounters } from "./shared-counters.js";

/** The length of the head of a restore journal, in bytes. */
export const HEAD_LENGTH = 64;

/**
 * The length of an entry of the journal, in bytes. An entry is zeros until its frame is written to the image, then the
 * BLAKE3 digest of the data.
 */
export const ENTRY_LENGTH = 32;

/** Returns the offset of a frame's entry in the journal. */
export function entryPosition(index: number): number {
  return HEAD_LENGTH + index * ENTRY_LENGTH;
}

/** The parameters of a {@link FrameSink}, in a form that crosses threads. */
export interface SinkData {
  readonly module: WebAssembly.Module;
  readonly frames: FrameRecords;
  readonly states: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
  readonly pieceSize: number;
  /** The names of the files that hold the frames, in messages, by the number of the object. */
  readonly sourceNames: readonly string[];
  /** The file descriptor of the image. Without one, frames are verified and not written. */
  readonly target: number | undefined;
  readonly targetName: string;
  /** Whether the image may hold data already; if not, it is all zeros. */
  readonly mayHoldData: boolean;
  /** The file descriptor of the restore journal, if there is one. */
  readonly journal: number | undefined;
  /** The blocks that clients have written, if the image is that of a disk: see {@link BlockSet}. */
  readonly written?: SharedArrayBuffer | undefined;
}

/** Verifies, decompresses, writes and counts frames. */
export class FrameSink {
  readonly frames: Frames;
  readonly states: FrameStates;
  readonly counters: SharedCounters;
  readonly #data: SinkData;
  readonly #memory: WebAssembly.Memory;
  readonly #decoder: FrameDecoder;
  readonly #written: BlockSet | undefined;

  /** @param states those of `data`, by default */
  constructor(data: SinkData, states = new FrameStates(data.states)) {
    this.#data = data;
    this.#written = data.written && new BlockSet(data.written);
    this.frames = new Frames(data.frames);
    this.states = states;
    this.counters = new SharedCounters(data.counters);
    this.#memory = instantiate(initSync, data.module).memory;
    const decoder = FrameDecoder.create(data.pieceSize, data.target === undefined);
    if (decoder === undefined) throw this.#outOfMemory();
    this.#decoder = decoder;
  }

  /** Frees the memory of the decoder. */
  free(): void {
    this.#decoder.free();
  }

  /**
   * Begins a frame in a slot. Returns the address in {@link view} at which to put its compressed bytes; it is
   * valid until the next frame begins in the slot.
   *
   * @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`
   */
  begin(slot: number, index: number): number {
    const record = this.#decoder.record();
    new Uint8Array(this.#memory.buffer).set(this.frames.record(index), record);
    const start = this.#decoder.begin(slot);
    if (start === 0) throw this.#formatError(index);
    return start;
  }

  /** A view of WebAssembly memory, valid until the next call of the sink. */
  view(start: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, start, length);
  }

  /**
   * Decodes the frame in a slot, of which `count` bytes have arrived, and writes it. Does nothing if another
   * connection or thread has taken the frame.
   *
   * @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`, `ERR_TARGET`
   */
  finish(slot: number, index: number, count: number): void {
    if (this.states.isTaken(index)) return;
    const runs = this.#decoder.finish(slot, count);
    if (runs < 0) throw this.#formatError(index);
    if (!this.states.claim(index)) return;
    try {
      this.#write(index, runs);
      this.#writeJournal(index);
    } catch (error) {
      this.states.release(index);
      const data = this.view(this.#decoder.out(), this.frames.rawLength(index));
      if (this.spare(index, data, error)) return;
      throw error;
    }
    this.#markDone(index);
  }

  /** Returns whether the data of a frame is useful even though it could not be written. */
  protected spare(_index: number, _data: Uint8Array, _error: unknown): boolean {
    return false;
  }

  /**
   * Marks a frame as done if the journal has its digest and the image still has the data of that digest.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  resume(index: number): void {
    const { journal, target, targetName } = this.#data;
    if (journal === undefined || target === undefined || this.states.isDone(index)) return;
    const digest = new Uint8Array(ENTRY_LENGTH);
    const segments = this.frames.segments(index);
    const isRead = wrapSystemErrorsSync(
      "ERR_TARGET",
      `cannot read the partial image of ${targetName}`,
      () => {
        readFullySync(journal, digest, entryPosition(index));
        if (digest.every((byte) => byte === 0)) return false;
        let at = this.#decoder.out();
        return segments.every(({ imageOffset, length }) => {
          const count = readFullySync(target, this.view(at, length), imageOffset);
          at += length;
          return count === length;
        });
      },
    );
    if (!isRead) return;
    const found = this.#digest(this.frames.usedLength(index));
    if (Buffer.compare(digest, found) === 0 && this.states.claim(index)) this.#markDone(index);
  }

  /** Writes the segments of the decoded frame: its runs of data, and zeros between them. */
  #write(index: number, count: number): void {
    const { target, targetName, mayHoldData } = this.#data;
    if (target === undefined) return;
    const out = this.#decoder.out();
    const runs = new Uint32Array(this.#memory.buffer, this.#decoder.runs(), 2 * count);
    const segments = this.#segmentsToWrite(index);
    const end = Math.max(0, ...segments.map((one) => one.imageOffset + one.length));
    checkLengthSync("ERR_TARGET", { fd: target, name: targetName }, end);
    wrapSystemErrorsSync("ERR_TARGET", `cannot write ${targetName}`, () => {
      for (const { imageOffset, frameOffset, length } of segments) {
        const shift = imageOffset - frameOffset;
        let done = frameOffset;
        const skipTo = (end: number) => {
          if (mayHoldData) zeroRangeSync(target, shift + done, shift + end);
        };
        for (let run = 0; run < runs.length; run += 2) {
          const start = Math.max(runs[run] as number, frameOffset);
          const end = Math.min(runs[run + 1] as number, frameOffset + length);
          if (start >= end) continue;
          skipTo(start);
          writeFullySync(target, this.view(out + start, end - start), shift + start);
          done = end;
        }
        skipTo(frameOffset + length);
      }
    });
  }

  /** Returns the segments of a frame, without blocks that have been written to. */
  #segmentsToWrite(index: number): Segment[] {
    const segments = this.frames.segments(index);
    const written = this.#written;
    if (written === undefined) return segments;
    return segments.flatMap((segment) => {
      const { imageOffset: start, frameOffset, length } = segment;
      return [...written.gaps(start, start + length)].map((gap) => ({
        imageOffset: gap.start,
        frameOffset: frameOffset + gap.start - start,
        length: gap.end - gap.start,
      }));
    });
  }

  #writeJournal(index: number): void {
    const { journal, targetName } = this.#data;
    if (journal === undefined) return;
    const digest = this.#usedDigest(index);
    wrapSystemErrorsSync("ERR_TARGET", `cannot write the restore journal of ${targetName}`, () =>
      writeFullySync(journal, digest, entryPosition(index)),
    );
  }

  /** Marks a claimed frame as done. */
  #markDone(index: number): void {
    this.states.finish(index);
    const bytes =
      this.#data.target === undefined
        ? this.frames.rawLength(index)
        : this.frames.usedLength(index);
    this.counters.frameDone(bytes, this.frames.compressedLength(index));
  }

  /** Returns the digest of the segments of the decoded frame. Moves them together in the decoder's output. */
  #usedDigest(index: number): Uint8Array {
    const out = this.view(this.#decoder.out(), this.frames.rawLength(index));
    let end = 0;
    for (const { frameOffset, length } of this.frames.segments(index)) {
      out.copyWithin(end, frameOffset, frameOffset + length);
      end += length;
    }
    return this.#digest(end);
  }

  /** The BLAKE3 digest of the first `length` bytes of the decoder's output. */
  #digest(length: number): Uint8Array {
    return this.view(this.#decoder.out_digest(length), ENTRY_LENGTH);
  }

  #formatError(index: number): SnapshotError {
    const details = this.#decoder.take_error();
    if (details === undefined) return this.#outOfMemory();
    const name = this.#data.sourceNames[this.frames.object(index)];
    return errorOf("ERR_SNAPSHOT_FORMAT", `${name}: `, details, this.#memory);
  }

  #outOfMemory(): SnapshotError {
    const message = `out of memory for pieces of ${this.#data.pieceSize} bytes`;
    return new SnapshotError("ERR_WORKER", message);
  }
}
