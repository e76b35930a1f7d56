import type { Frames } from "../format/frames.js";

/** Tracks which frames of a snapshot are done, in memory that the workers share. */
export class FrameStates {
  readonly #states: Uint8Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#states = new Uint8Array(buffer);
  }

  /** Returns the initial states: frames that are not wanted count as done. */
  static of({ count }: Frames, isWanted: (frame: number) => boolean): FrameStates {
    const states = new FrameStates(new SharedArrayBuffer(count));
    for (let index = 0; index < count; index += 1) if (!isWanted(index)) states.finish(index);
    return states;
  }

  isDone(index: number): boolean {
    return Atomics.load(this.#states, index) !== 0;
  }

  /** Marks a frame as done. Returns false if it was done before. */
  finish(index: number): boolean {
    return Atomics.exchange(this.#states, index, 1) === 0;
  }

  /** Returns the first frame in [first, end) that is not done. */
  firstMissing(first: number, end: number): number | undefined {
    for (let index = first; index < end; index += 1) if (!this.isDone(index)) return index;
    return undefined;
  }

  /** Yields the frames in [first, end) that are not done. */
  *missing(first = 0, end = this.#states.length): Generator<number> {
    for (let index = first; index < end; index += 1) if (!this.isDone(index)) yield index;
  }
}
