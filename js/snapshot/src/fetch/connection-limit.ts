import { now } from "./range-timings.js";

/** The shortest time between two halvings of the limit, in milliseconds. */
const MIN_HALVING_INTERVAL = 1_000;

/** The index of each count, and of each time in the array that follows the counts, aligned to its elements. */
const [LIMIT, WORKERS, IS_URGENT] = [0, 1, 2] as const;
const LOWERED_AT = 0;
const TIMES_OFFSET = 4 * Int32Array.BYTES_PER_ELEMENT;

/** The number of connections that all workers together may use, in memory that they share. */
export class ConnectionLimit {
  readonly #counts: Int32Array;
  readonly #times: Float64Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#counts = new Int32Array(buffer, 0, 3);
    this.#times = new Float64Array(buffer, TIMES_OFFSET, 1);
  }

  static of(value: number): ConnectionLimit {
    const bytes = TIMES_OFFSET + Float64Array.BYTES_PER_ELEMENT;
    const limit = new ConnectionLimit(new SharedArrayBuffer(bytes));
    limit.value = value;
    return limit;
  }

  get value(): number {
    return Atomics.load(this.#counts, LIMIT);
  }

  set value(value: number) {
    Atomics.store(this.#counts, IS_URGENT, 0);
    Atomics.store(this.#counts, LIMIT, value);
  }

  /** Lowers the limit for something more urgent: requests above it end at once. */
  giveWay(value: number): void {
    this.value = value;
    Atomics.store(this.#counts, IS_URGENT, 1);
  }

  /** Whether requests above the limit are in the way of something more urgent. */
  get isUrgent(): boolean {
    return Atomics.load(this.#counts, IS_URGENT) !== 0;
  }

  /** Halves the limit, because the server asked for fewer requests. */
  halve(): void {
    if (now() - this.loweredAt < MIN_HALVING_INTERVAL) return;
    this.#times[LOWERED_AT] = now();
    // Everything may be paused, or about to give way.
    if (this.value > 1) Atomics.store(this.#counts, LIMIT, this.value >> 1);
  }

  /** The time of the last halving, as of {@link now}; 0 if there was none. */
  get loweredAt(): number {
    return this.#times[LOWERED_AT] as number;
  }

  /** Returns the number of the calling worker, from 0. */
  join(): number {
    return Atomics.add(this.#counts, WORKERS, 1);
  }

  /** Returns how many connections a worker may use. Connections are divided evenly. */
  shareOf(worker: number, workers: number): number {
    return Math.floor((this.value + workers - 1 - worker) / workers);
  }
}
