import type { FrameSink } from "../decode/frame-sink.js";

/** Cuts a stream of consecutive bytes of a snapshot into frames, and passes the missing ones to the sink. */
export class FrameStream {
  readonly #sink: FrameSink;
  readonly #slot: number;
  readonly #end: number;
  /** The frame that is being received, or comes next. */
  #index: number;
  /** The offset in the snapshot of that frame, or of the bytes to skip before it. */
  #position: number;
  /** The address of that frame in the sink's memory, and how many of its bytes are there. */
  #start = 0;
  #filled = 0;

  /** @param first the frame with which the bytes begin; they end before the frame `end` */
  constructor(sink: FrameSink, slot: number, first: number, end: number) {
    this.#sink = sink;
    this.#slot = slot;
    this.#index = first - 1;
    this.#end = end;
    this.#position = sink.frames.fileOffset(first);
    this.#next();
  }

  /** Returns whether a frame is partly received. */
  hasPartOf(index: number): boolean {
    return this.#index === index && this.#filled > 0;
  }

  /** The offset of the next byte in the snapshot. */
  get position(): number {
    return this.#position + this.#filled;
  }

  /** @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`, `ERR_TARGET` */
  push(bytes: Uint8Array): void {
    const { frames } = this.#sink;
    for (let at = 0; at < bytes.length && this.#index < this.#end; ) {
      const before = frames.fileOffset(this.#index) - this.#position;
      if (before > 0) {
        const skipped = Math.min(before, bytes.length - at);
        at += skipped;
        this.#position += skipped;
        continue;
      }
      const missing = frames.compressedLength(this.#index) - this.#filled;
      const count = Math.min(missing, bytes.length - at);
      const part = bytes.subarray(at, at + count);
      this.#sink.view(this.#start + this.#filled, count).set(part);
      at += count;
      this.#filled += count;
      if (count < missing) continue;
      this.#position += this.#filled;
      this.#sink.finish(this.#slot, this.#index, this.#filled);
      this.#next();
    }
  }

  #next(): void {
    this.#index = this.#sink.states.firstMissing(this.#index + 1, this.#end) ?? this.#end;
    this.#filled = 0;
    if (this.#index < this.#end) this.#start = this.#sink.begin(this.#slot, this.#index);
  }
}
