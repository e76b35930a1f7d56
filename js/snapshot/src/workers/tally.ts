import type { Counts } from "../progress.js";

/** Where in memory what is counted. */
const [NEXT, FRAMES, BYTES, COMPRESSED_BYTES] = [0, 1, 2, 3] as const;

/** What workers share while they share out frames: which one is next, and what is done. */
export class Tally {
  readonly #slots: BigInt64Array;

  constructor(readonly buffer = new SharedArrayBuffer(4 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.#slots = new BigInt64Array(buffer);
  }

  /** Takes the next number that no one has taken. */
  next(): number {
    return Number(Atomics.add(this.#slots, NEXT, 1n));
  }

  /** Counts a frame that is done. */
  count(bytes: number, compressedBytes: number): void {
    Atomics.add(this.#slots, FRAMES, 1n);
    Atomics.add(this.#slots, BYTES, BigInt(bytes));
    Atomics.add(this.#slots, COMPRESSED_BYTES, BigInt(compressedBytes));
  }

  get counts(): Counts {
    return {
      frames: Number(Atomics.load(this.#slots, FRAMES)),
      bytes: Number(Atomics.load(this.#slots, BYTES)),
      compressedBytes: Number(Atomics.load(this.#slots, COMPRESSED_BYTES)),
    };
  }
}
