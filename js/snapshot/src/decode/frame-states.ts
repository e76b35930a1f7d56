import type { Frames } from "../format/frames.js";

/** Which frames of a snapshot are done, in memory that workers share. */
export class FrameStates {
  readonly #states: Uint8Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#states = new Uint8Array(buffer);
  }

  /** The states at the beginning, at which holes are done if `holesAreDone`, and nothing else is. */
  static of(frames: Frames, holesAreDone: boolean): FrameStates {
    const states = new FrameStates(new SharedArrayBuffer(frames.count));
    for (let index = 0; index < frames.count; index += 1) {
      if (holesAreDone && frames.isHole(index)) states.finish(index);
    }
    return states;
  }

  isDone(index: number): boolean {
    return Atomics.load(this.#states, index) !== 0;
  }

  /** Returns whether no one finished the frame before. */
  finish(index: number): boolean {
    return Atomics.exchange(this.#states, index, 1) === 0;
  }

  /** The first frame of a range that is not done, or undefined if all are. */
  firstMissing(first: number, end: number): number | undefined {
    for (let index = first; index < end; index += 1) if (!this.isDone(index)) return index;
    return undefined;
  }

  /** The frames of a range that are not done, in their order. */
  *missing(first = 0, end = this.#states.length): Generator<number> {
    for (let index = first; index < end; index += 1) if (!this.isDone(index)) yield index;
  }
}
