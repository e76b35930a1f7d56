import type { Frames } from "../format/frames.js";

/**
 * The states of a frame: nobody has its data; it is in the image; a thread is writing it to the image; or what it covers
 * is being written to by somebody else, and then it is missing again.
 */
const [MISSING, DONE, CLAIMED, HELD] = [0, 1, 2, 3] as const;

/** How long a thread sleeps before it looks at a frame again that is held, in milliseconds. */
const HELD_INTERVAL = 0.1;

/** Tracks which frames of a snapshot are done, in memory that the threads share. */
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

  /** The number of frames. */
  get count(): number {
    return this.#states.length;
  }

  /** Returns whether the data of a frame is in the image. */
  isDone(index: number): boolean {
    return Atomics.load(this.#states, index) === DONE;
  }

  /** Returns whether a frame is done, or a thread is writing it. */
  isTaken(index: number): boolean {
    const state = Atomics.load(this.#states, index);
    return state === DONE || state === CLAIMED;
  }

  /** Claims a missing frame, to write it to the image. Returns false if it is taken. Waits while it is held. */
  claim(index: number): boolean {
    for (;;) {
      const state = Atomics.compareExchange(this.#states, index, MISSING, CLAIMED);
      if (state !== HELD) return state === MISSING;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HELD_INTERVAL);
    }
  }

  /** Holds a missing frame, so that nobody claims it. Returns false if it is taken. */
  hold(index: number): boolean {
    return Atomics.compareExchange(this.#states, index, MISSING, HELD) === MISSING;
  }

  /** Marks a frame as done. */
  finish(index: number): void {
    Atomics.store(this.#states, index, DONE);
  }

  /** Makes a frame that was claimed or held missing again. */
  release(index: number): void {
    Atomics.store(this.#states, index, MISSING);
  }

  /** Returns the first frame in [first, end) that is not taken. */
  firstMissing(first: number, end: number): number | undefined {
    for (let index = first; index < end; index += 1) if (!this.isTaken(index)) return index;
    return undefined;
  }

  /** Yields the frames in [first, end) that are not taken. */
  *missing(first = 0, end = this.#states.length): Generator<number> {
    for (let index = first; index < end; index += 1) if (!this.isTaken(index)) yield index;
  }
}
