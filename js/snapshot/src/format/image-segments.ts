import type { Extent } from "../local/extents.js";
import type { Frames, Segment } from "./frames.js";
import type { Manifest } from "./manifest.js";

/** A segment, and its frame. */
export interface ImageSegment extends Segment {
  /** The number of the frame. */
  readonly frame: number;
}

/** The segments of a snapshot or delta, in the order of its image, up to `imageSize`. */
export class ImageSegments {
  readonly frames: Frames;
  readonly #size: number;
  readonly #order: Uint32Array;
  readonly #frameOf: Uint32Array;

  constructor({ frames }: Manifest, imageSize: number) {
    this.frames = frames;
    this.#size = imageSize;
    this.#order = frames.segmentsInOrder();
    this.#frameOf = frames.framesOfSegments();
  }

  *[Symbol.iterator](): Generator<ImageSegment> {
    for (const number of this.#order) {
      const segment = this.frames.segment(number);
      if (segment.imageOffset >= this.#size) return;
      yield { ...segment, frame: this.#frameOf[number] as number };
    }
  }

  /** Returns the ranges of the image that are data. @param isWanted whether to include the data of a frame */
  extents(isWanted: (frame: number) => boolean = () => true): Extent[] {
    const extents: { start: number; end: number }[] = [];
    for (const { imageOffset: start, length, frame } of this) {
      if (!isWanted(frame)) continue;
      const [previous, end] = [extents.at(-1), Math.min(start + length, this.#size)];
      if (previous?.end === start) previous.end = end;
      else extents.push({ start, end });
    }
    return extents;
  }
}
