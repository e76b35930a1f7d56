/**
 * Which frames of a snapshot are in the image. The threads share one byte for each frame, its state, and move it with
 * atomic operations:
 *
 * | from | to | who |
 * |---|---|---|
 * | `MISSING` | `CLAIMED` | a worker or the demand fetcher, when it has the data: {@link FrameStates.claim} |
 * | `CLAIMED` | `DONE` | the same, when the data is written |
 * | `CLAIMED` | `MISSING` | the same, if writing fails; the main thread, if the worker was terminated |
 * | `MISSING` | `INHERITED` | the main thread, when it opens a disk over the image of a base |
 * | `INHERITED` | `COPIED` | the main thread, when it copies the data into the image |
 * | `COPIED` | `DONE` | the same, when the data is copied |
 * | `COPIED` | `INHERITED` | the same, if copying fails |
 * | `MISSING`, `INHERITED` | `HELD` and back | the main thread, while it writes the data of a client to the blocks of the frame |
 */

import type { ByteRange } from "../format/byte-ranges.js";
import type { Frames } from "../format/frames.js";

/** The state of a frame. */
export const FrameState = {
  /** Its data is not in the image. */
  MISSING: 0,
  /** Its data is in the image. */
  DONE: 1,
  /** A thread is writing its data to the image. */
  CLAIMED: 2,
  /** The main thread is writing to its blocks for a client. Then it returns to its earlier state. */
  HELD: 3,
  /** Its data is in the image of a base. */
  INHERITED: 4,
  /** The main thread is copying its data from the image of a base. */
  COPIED: 5,
} as const;

const { MISSING, DONE, CLAIMED, HELD, INHERITED, COPIED } = FrameState;

/** The state of a held frame, before and after. */
export type UnheldState = typeof MISSING | typeof INHERITED;

/** How long a thread sleeps before it looks at a held frame again, in milliseconds. */
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
    // V8 fails to slice a shared buffer without bytes.
    const states = new FrameStates(new SharedArrayBuffer(this.count));
    states.#states.set(this.#states);
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

  /** Claims an inherited frame, to copy it to the image. Returns false if it is not inherited, or is held. */
  claimInherited(index: number): boolean {
    return Atomics.compareExchange(this.#states, index, INHERITED, COPIED) === INHERITED;
  }

  /** Holds a missing or inherited frame, so that no thread claims it. Returns its state, or undefined if it is neither. */
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

  /** Moves a claimed or held frame back to a state. */
  release(index: number, state: UnheldState = MISSING): void {
    Atomics.store(this.#states, index, state);
  }

  /** Marks the frames that terminated threads had claimed as missing. */
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

  /** Returns whether every frame is in the image or in that of a base. A claimed one is not: writing it may fail. */
  hasNone({ first, end }: FrameSpan): boolean {
    for (let frame = first; frame < end; frame += 1)
      if (!this.#states.isDone(frame) && !this.#states.isInBase(frame)) return false;
    return true;
  }

  /** Returns the bytes from the first to the last missing frame, and which frame is the first. */
  bytesOf(range: FrameSpan): (ByteRange & { readonly first: number }) | undefined {
    const missing = this.of(range);
    const first = missing[0];
    const last = missing.at(-1);
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
    const first = frames[0];
    const last = frames.at(-1);
    if (first === undefined || last === undefined) return 0;
    const end = this.#frames.fileOffset(last) + this.#frames.compressedLength(last);
    return end - this.#frames.fileOffset(first);
  }
}
