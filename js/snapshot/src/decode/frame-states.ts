import type { Frames } from "../format/frames.js";

/**
 * The states of a frame: nobody has its data; it is in the image; a thread is writing it to the image; somebody else is
 * writing to its blocks, and it will be as before; its data is in the image of a base; or is being copied from there.
 */
const [MISSING, DONE, CLAIMED, HELD, COPIED] = [0, 1, 2, 3, 5] as const;
export const INHERITED = 4;

/** The state of a frame that is held, before and after. */
export type UnheldState = typeof MISSING | typeof INHERITED;

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

  /** Returns the states as they are now, in memory of its own. */
  copy(): FrameStates {
    return new FrameStates(this.buffer.slice(0));
  }

  /** The number of frames. */
  get count(): number {
    return this.#states.length;
  }

  /** Returns whether the data of a frame is in the image. */
  isDone(index: number): boolean {
    return Atomics.load(this.#states, index) === DONE;
  }

  /** Returns whether the data of a frame is in the image of a base, and not in the image. */
  isInherited(index: number): boolean {
    return Atomics.load(this.#states, index) === INHERITED;
  }

  /** Returns whether the data of a frame is in the image of a base, and not, or not all of it, in the image. */
  isInBase(index: number): boolean {
    const state = Atomics.load(this.#states, index);
    return state === INHERITED || state === COPIED;
  }

  /** Returns whether a frame need not be fetched: it is done or inherited, or a thread is writing it. */
  isTaken(index: number): boolean {
    const state = Atomics.load(this.#states, index);
    return state === DONE || state === CLAIMED || state === INHERITED || state === COPIED;
  }

  /** Claims a missing frame, to write it to the image. Returns false if it is taken. Waits while it is held. */
  claim(index: number): boolean {
    for (;;) {
      const state = Atomics.compareExchange(this.#states, index, MISSING, CLAIMED);
      if (state !== HELD) return state === MISSING;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HELD_INTERVAL);
    }
  }

  /** Claims an inherited frame, to copy it to the image. Returns false if it is not, or held. */
  claimInherited(index: number): boolean {
    return Atomics.compareExchange(this.#states, index, INHERITED, COPIED) === INHERITED;
  }

  /** Holds a frame that is missing or inherited, so that nobody claims it. Returns its state, or undefined if it is neither. */
  hold(index: number): UnheldState | undefined {
    for (const state of [MISSING, INHERITED] as const)
      if (Atomics.compareExchange(this.#states, index, state, HELD) === state) return state;
    return undefined;
  }

  /** Marks a frame as done. */
  finish(index: number): void {
    Atomics.store(this.#states, index, DONE);
  }

  /** Marks a frame as inherited. */
  inherit(index: number): void {
    this.release(index, INHERITED);
  }

  /** Returns a frame that was claimed or held to a state. */
  release(index: number, state: UnheldState = MISSING): void {
    Atomics.store(this.#states, index, state);
  }

  /** Makes the frames missing that threads had claimed which were terminated. */
  releaseClaimed(): void {
    for (let index = 0; index < this.count; index += 1)
      Atomics.compareExchange(this.#states, index, CLAIMED, MISSING);
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
