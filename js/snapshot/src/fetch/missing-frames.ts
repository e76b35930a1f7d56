import type { FrameStates } from "../decode/frame-states.js";
import type { Frames } from "../format/frames.js";
import type { ByteRange } from "../http/object-version.js";

/** The frames [first, end), in order. */
type FrameSpan = { readonly first: number; readonly end: number };

/** Finds the frames that no thread has decoded or is writing, and where their bytes lie in the snapshot. */
export class MissingFrames {
  readonly #frames: Frames;
  readonly #states: FrameStates;

  constructor(frames: Frames, states: FrameStates) {
    this.#frames = frames;
    this.#states = states;
  }

  of({ first, end }: FrameSpan): number[] {
    return [...this.#states.missing(first, end)];
  }

  /** Returns whether every frame is in the image or in that of a base: a thread that is writing one may still fail. */
  hasNone({ first, end }: FrameSpan): boolean {
    for (let frame = first; frame < end; frame += 1)
      if (!this.#states.isDone(frame) && !this.#states.isInBase(frame)) return false;
    return true;
  }

  /** Returns the bytes from the first to the last missing frame, and which frame is the first. */
  bytesOf(range: FrameSpan): (ByteRange & { readonly first: number }) | undefined {
    const missing = this.of(range);
    const [first, last] = [missing[0], missing.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const end = this.#frames.fileOffset(last) + this.#frames.compressedLength(last);
    return { first, start: this.#frames.fileOffset(first), end };
  }

  /** Returns the number of bytes from the first to the last missing frame. */
  lengthOf(range: FrameSpan): number {
    return this.span(this.of(range));
  }

  /** Returns the number of bytes from the first to the last of some frames. */
  span(frames: readonly number[]): number {
    const [first, last] = [frames[0], frames.at(-1)];
    if (first === undefined || last === undefined) return 0;
    const end = this.#frames.fileOffset(last) + this.#frames.compressedLength(last);
    return end - this.#frames.fileOffset(first);
  }
}
