import type { Frames } from "../format/frames.js";
import type { Manifest } from "../format/manifest.js";

/** A part of an image, [start, end) in bytes, and the frame that holds it; none if the part is a hole. */
export interface ImagePart {
  readonly start: number;
  readonly end: number;
  readonly frame: number | undefined;
}

/** Finds the frames that hold parts of an image. */
export class ImageLayout {
  readonly frames: Frames;
  readonly size: number;
  /** The start and end of each segment, in order, and its frame. */
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  readonly #frames: Uint32Array;

  constructor(manifest: Manifest) {
    const { frames, info } = manifest;
    this.frames = frames;
    this.size = info.imageSize;
    const order = frames.segmentsInOrder();
    const frameOf = frames.framesOfSegments();
    this.#starts = new Float64Array(order.length);
    this.#ends = new Float64Array(order.length);
    this.#frames = new Uint32Array(order.length);
    for (let at = 0; at < order.length; at += 1) {
      const number = order[at] as number;
      const start = frames.segmentStart(number);
      this.#starts[at] = start;
      this.#ends[at] = start + frames.segmentLength(number);
      this.#frames[at] = frameOf[number] as number;
    }
  }

  /** The number of parts of the image that are in frames. */
  get segmentCount(): number {
    return this.#starts.length;
  }

  /** Yields the parts of a range of the image, in order. */
  *parts(start: number, end: number): Generator<ImagePart> {
    let position = start;
    for (let at = this.#firstEndingAfter(start); position < end; at += 1) {
      const segmentStart = Math.min(this.#starts[at] ?? end, end);
      if (position < segmentStart) yield { start: position, end: segmentStart, frame: undefined };
      if (segmentStart === end) return;
      const segmentEnd = Math.min(this.#ends[at] as number, end);
      const partStart = Math.max(position, segmentStart);
      yield { start: partStart, end: segmentEnd, frame: this.#frames[at] as number };
      position = segmentEnd;
    }
  }

  /** Returns whether `test` is true for all frames that hold parts of a range. */
  everyFrame(start: number, end: number, test: (frame: number) => boolean): boolean {
    for (let at = this.#firstEndingAfter(start); (this.#starts[at] ?? end) < end; at += 1)
      if (!test(this.#frames[at] as number)) return false;
    return true;
  }

  /** Returns the number of the first segment that ends after an offset. */
  #firstEndingAfter(offset: number): number {
    let [low, high] = [0, this.#ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ends[middle] as number) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
