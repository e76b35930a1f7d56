import type { Counts } from "../progress.js";

/** The index of each counter. */
const NEXT = 0;
const FRAMES = 1;
const BYTES = 2;
const COMPRESSED_BYTES = 3;
const TRANSFERRED_BYTES = 4;
const RETRIES = 5;
const HEDGED = 6;
const COUNTERS = 7;

/** The progress of a job and the next frame to take, in memory that the workers share. */
export class SharedCounters {
  readonly #slots: BigInt64Array;

  constructor(readonly buffer = new SharedArrayBuffer(COUNTERS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.#slots = new BigInt64Array(buffer);
  }

  /** Takes the next frame, and returns its index, which may be beyond the last frame. */
  next(): number {
    return Number(Atomics.add(this.#slots, NEXT, 1n));
  }

  /** Makes {@link next} begin with the first frame again. */
  restart(): void {
    Atomics.store(this.#slots, NEXT, 0n);
  }

  /** Counts a decoded frame. */
  frameDone(bytes: number, compressedBytes: number): void {
    Atomics.add(this.#slots, BYTES, BigInt(bytes));
    Atomics.add(this.#slots, COMPRESSED_BYTES, BigInt(compressedBytes));
    Atomics.add(this.#slots, FRAMES, 1n);
  }

  /** Replaces the number of decoded frames. */
  setFrames(count: number): void {
    Atomics.store(this.#slots, FRAMES, BigInt(count));
  }

  /** Counts bytes received from a server. */
  received(bytes: number): void {
    Atomics.add(this.#slots, TRANSFERRED_BYTES, BigInt(bytes));
  }

  /** Counts a retried request. */
  retried(): void {
    Atomics.add(this.#slots, RETRIES, 1n);
  }

  /** Counts a hedge: a second request for a slow range. */
  hedged(): void {
    Atomics.add(this.#slots, HEDGED, 1n);
  }

  get counts(): Counts {
    return {
      frames: this.#get(FRAMES),
      bytes: this.#get(BYTES),
      compressedBytes: this.#get(COMPRESSED_BYTES),
      transferredBytes: this.#get(TRANSFERRED_BYTES),
      retries: this.#get(RETRIES),
      hedged: this.#get(HEDGED),
    };
  }

  #get(slot: number): number {
    return Number(Atomics.load(this.#slots, slot));
  }
}
