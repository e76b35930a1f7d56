import type { Counts } from "../progress.js";

/** Where in memory what is counted. */
const [NEXT, FRAMES, BYTES, COMPRESSED_BYTES, FETCHED_BYTES, RETRIES, HEDGED] = [
  0, 1, 2, 3, 4, 5, 6,
] as const;

/** What workers share while they share out frames: which one is next, and what is done. */
export class SharedCounters {
  readonly #slots: BigInt64Array;

  constructor(readonly buffer = new SharedArrayBuffer(7 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.#slots = new BigInt64Array(buffer);
  }

  /** Takes the next number that no one has taken. */
  next(): number {
    return Number(Atomics.add(this.#slots, NEXT, 1n));
  }

  /** Counts a frame that is done. */
  count(bytes: number, compressedBytes: number): void {
    Atomics.add(this.#slots, BYTES, BigInt(bytes));
    Atomics.add(this.#slots, COMPRESSED_BYTES, BigInt(compressedBytes));
    Atomics.add(this.#slots, FRAMES, 1n);
  }

  /** Counts bytes that came over a network. */
  fetched(bytes: number): void {
    Atomics.add(this.#slots, FETCHED_BYTES, BigInt(bytes));
  }

  /** Counts a request that was made again. */
  retried(): void {
    Atomics.add(this.#slots, RETRIES, 1n);
  }

  /** Counts a request that was made a second time while the first went on. */
  hedged(): void {
    Atomics.add(this.#slots, HEDGED, 1n);
  }

  get counts(): Counts {
    return {
      frames: this.#get(FRAMES),
      bytes: this.#get(BYTES),
      compressedBytes: this.#get(COMPRESSED_BYTES),
      transferredBytes: this.#get(FETCHED_BYTES),
      retries: this.#get(RETRIES),
      hedged: this.#get(HEDGED),
    };
  }

  #get(slot: number): number {
    return Number(Atomics.load(this.#slots, slot));
  }
}
