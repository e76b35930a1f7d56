/** The slots that describe all complete requests: their total duration and bytes, and their number. */
const DURATION = 0;
const BYTES = 1;
const REQUESTS = 2;
const TOTAL_SLOTS = 3;

/** The slots of each range: when its request began, 0 if none is running, and the bytes received since. */
const BEGUN = 0;
const RECEIVED = 1;
const RANGE_SLOTS = 2;

/** By how many milliseconds a range must be later than expected to count as slow at all. */
const MIN_DELAY = 100;

/** Returns the time in milliseconds, by a monotonic clock that is the same in all threads. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * How fast ranges arrive, in memory that the workers share. Slots are updated without synchronisation: a race
 * loses one measurement at worst.
 */
export class RangeTimings {
  readonly #slots: Float64Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#slots = new Float64Array(buffer);
  }

  static of(ranges: number): RangeTimings {
    const slots = TOTAL_SLOTS + RANGE_SLOTS * ranges;
    return new RangeTimings(new SharedArrayBuffer(slots * Float64Array.BYTES_PER_ELEMENT));
  }

  /** Starts the clock of a range, because a request for it begins. */
  begin(index: number): void {
    this.#set(index, RECEIVED, 0);
    this.#set(index, BEGUN, now());
  }

  /** Stops the clock of a range, because it is complete, or waits for a retry. */
  stop(index: number): void {
    this.#set(index, BEGUN, 0);
  }

  /** Counts received bytes of a range. */
  received(index: number, bytes: number): void {
    this.#set(index, RECEIVED, this.#get(index, RECEIVED) + bytes);
  }

  receivedOf(index: number): number {
    return this.#get(index, RECEIVED);
  }

  setReceived(index: number, bytes: number): void {
    this.#set(index, RECEIVED, bytes);
  }

  isRunning(index: number): boolean {
    return this.#get(index, BEGUN) !== 0;
  }

  /** Returns how long the request for a range has been running, in milliseconds; 0 if none is. */
  elapsed(index: number): number {
    return this.isRunning(index) ? now() - this.#get(index, BEGUN) : 0;
  }

  /** Records a complete request. Others are compared with the average of these. */
  completed(milliseconds: number, bytes: number): void {
    this.#slots[DURATION] = (this.#slots[DURATION] as number) + milliseconds;
    this.#slots[BYTES] = (this.#slots[BYTES] as number) + bytes;
    this.#slots[REQUESTS] = (this.#slots[REQUESTS] as number) + 1;
  }

  /** The average duration of a complete request, in milliseconds; 0 before the first. */
  get average(): number {
    return (this.#slots[DURATION] as number) / Math.max(1, this.#slots[REQUESTS] as number);
  }

  /**
   * Returns how many times longer than average the rest of a range will take, or 0 if that is unknown or not
   * worth acting on.
   *
   * @param left the number of bytes still to arrive
   */
  slowdown(index: number, left: number): number {
    const duration = this.#slots[DURATION] as number;
    const bytes = this.#slots[BYTES] as number;
    const begun = this.#get(index, BEGUN);
    if (bytes === 0 || left === 0 || begun === 0) return 0;
    const received = this.#get(index, RECEIVED);
    const elapsed = now() - begun;
    const expected = received === 0 ? elapsed : (left * elapsed) / received;
    // Before the first byte, compare latencies, which do not depend on the size of the request.
    const latency = received === 0 ? duration / (this.#slots[REQUESTS] as number) : 0;
    const average = Math.max((left * duration) / bytes, latency);
    return expected > average + MIN_DELAY ? expected / average : 0;
  }

  #get(index: number, slot: number): number {
    return this.#slots[TOTAL_SLOTS + RANGE_SLOTS * index + slot] as number;
  }

  #set(index: number, slot: number, value: number): void {
    this.#slots[TOTAL_SLOTS + RANGE_SLOTS * index + slot] = value;
  }
}
