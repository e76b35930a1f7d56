import type { FrameSink } from "../decode/frame-sink.js";

/** The bytes of a part of the file, in their order, that are cut into the frames that are missing. */
export class FrameStream {
  readonly #sink: FrameSink;
  readonly #slot: number;
  readonly #end: number;
  #index: number;
  /** Where in the file what is begun lies, or what comes next. */
  #position: number;
  /** Where the frame that was begun lies in the memory, and how much of it is there. */
  #start = 0;
  #filled = 0;

  /** @param first the frame that the bytes begin with, up to, but not including, `end` */
  constructor(sink: FrameSink, slot: number, first: number, end: number) {
    this.#sink = sink;
    this.#slot = slot;
    this.#index = first - 1;
    this.#end = end;
    this.#position = sink.frames.fileOffset(first);
    this.#next();
  }

  /** Whether some bytes of a frame are there, and others are not. */
  isAmid(index: number): boolean {
    return this.#index === index && this.#filled > 0;
  }

  /** Where in the file the next byte lies. */
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

  /** Goes on to the next frame that is missing. */
  #next(): void {
    this.#index = this.#sink.states.firstMissing(this.#index + 1, this.#end) ?? this.#end;
    this.#filled = 0;
    if (this.#index < this.#end) this.#start = this.#sink.begin(this.#slot, this.#index);
  }
}
