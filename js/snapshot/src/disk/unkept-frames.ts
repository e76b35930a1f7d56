import type { ByteRange } from "../format/byte-ranges.js";
import type { Frames } from "../format/frames.js";

/** The most bytes of frames that are in memory though no reader waits for them. */
const MAX_BYTES = 2 ** 24;

/** Frames for which the file system of the image has no room: readers get them from memory, and they are not kept. */
export class UnkeptFrames {
  /** Their data, the oldest first. */
  readonly #data = new Map<number, Uint8Array>();
  /** How many readers wait for each frame, whether it is here or not. */
  readonly #waiting = new Map<number, number>();
  #bytes = 0;
  #error: unknown;

  /** @param onAdded is called when a frame was added */
  constructor(
    private readonly frames: Frames,
    private readonly onAdded: () => void,
  ) {}

  get isEmpty(): boolean {
    return this.#data.size === 0;
  }

  /** Why the last of them could not be written. */
  get error(): unknown {
    return this.#error;
  }

  has(frame: number): boolean {
    return this.#data.has(frame);
  }

  /** Adds the data of a frame. @param error why it could not be written */
  add(frame: number, data: Uint8Array, error: unknown): void {
    this.delete(frame);
    this.#data.set(frame, data);
    this.#bytes += data.length;
    this.#error = error;
    this.#evict();
    this.onAdded();
  }

  /** Forgets a frame, so that it is fetched again. */
  delete(frame: number): void {
    this.#bytes -= this.#data.get(frame)?.length ?? 0;
    this.#data.delete(frame);
  }

  /** Keeps frames that arrive until the returned function is called. */
  await(wanted: Iterable<number>): () => void {
    const frames = [...wanted];
    const count = (frame: number, more: number) => {
      const readers = (this.#waiting.get(frame) ?? 0) + more;
      if (readers === 0) this.#waiting.delete(frame);
      else this.#waiting.set(frame, readers);
    };
    for (const frame of frames) count(frame, 1);
    return () => {
      for (const frame of frames) count(frame, -1);
      this.#evict();
    };
  }

  /** Copies what a frame holds of a range of the image, whose first byte is the first of `target`. */
  copy(frame: number, { start, end }: ByteRange, target: Uint8Array): void {
    const data = this.#data.get(frame);
    if (data === undefined) return;
    for (const { imageOffset, frameOffset, length } of this.frames.segments(frame)) {
      const [from, to] = [Math.max(start, imageOffset), Math.min(end, imageOffset + length)];
      if (from >= to) continue;
      const shift = frameOffset - imageOffset;
      target.set(data.subarray(from + shift, to + shift), from - start);
    }
  }

  #evict(): void {
    for (const frame of this.#data.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      if (!this.#waiting.has(frame)) this.delete(frame);
    }
  }
}
