import type { MissingFrames } from "../decode/frame-states.js";
import type { RangeScheduler, ScheduledRange } from "./range-scheduler.js";

/** A range is slow if the rest of it will take this many times as long as an average request. */
const SLOW_FACTOR = 2;

/** A range is stuck, and hedged from its first missing frame, if it is this many times slower than average. */
const STUCK_FACTOR = 6;

/** The maximum number of hedges for a range. */
const MAX_HEDGES = 3;

/** The share of all bytes that hedges may fetch. */
const HEDGED_SHARE = 0.03;

/** The slots of the shared memory: a lock, then the number of hedged bytes, then the hedges of each range. */
const LOCK = 0;
const COUNTS_OFFSET = Float64Array.BYTES_PER_ELEMENT;
const HEDGED_BYTES = 0;
const HEDGES = 1;

/** Allocates the memory that the {@link Hedging} of all workers shares. */
export function hedgingBuffer(ranges: number): SharedArrayBuffer {
  return new SharedArrayBuffer(COUNTS_OFFSET + (HEDGES + ranges) * Float64Array.BYTES_PER_ELEMENT);
}

/** Decides which slow ranges an idle connection requests a second time. */
export class Hedging {
  readonly #scheduler: RangeScheduler;
  readonly #missing: MissingFrames;
  readonly #totalBytes: number;
  readonly #lock: Int32Array;
  readonly #counts: Float64Array;

  /** @param totalBytes the number of bytes in all ranges */
  constructor(scheduler: RangeScheduler, missing: MissingFrames, totalBytes: number) {
    this.#scheduler = scheduler;
    this.#missing = missing;
    this.#totalBytes = totalBytes;
    this.#lock = new Int32Array(scheduler.data.hedging, 0, 1);
    this.#counts = new Float64Array(scheduler.data.hedging, COUNTS_OFFSET);
  }

  /** Takes a hedge. Returns undefined if no range is slow enough, or another worker is looking for one. */
  take(): ScheduledRange | undefined {
    if (Atomics.exchange(this.#lock, LOCK, 1) !== 0) return undefined;
    try {
      for (let index = 0; index < this.#scheduler.count; index += 1) {
        const hedge = this.#hedgeOf(index);
        if (hedge !== undefined) return hedge;
      }
      return undefined;
    } finally {
      Atomics.store(this.#lock, LOCK, 0);
    }
  }

  /**
   * Returns the part of a range to hedge, if it is slow: the second half of its missing frames, which would
   * arrive last, or all of them if it is stuck; fewer from the front if the budget does not allow them.
   */
  #hedgeOf(index: number): ScheduledRange | undefined {
    const { timings } = this.#scheduler;
    const hedges = this.#counts[HEDGES + index] as number;
    if (!timings.isRunning(index) || hedges === MAX_HEDGES) return undefined;
    const missing = this.#missing.of(this.#scheduler.range(index));
    const slowdown = timings.slowdown(index, this.#missing.span(missing));
    if (slowdown < SLOW_FACTOR) return undefined;
    const hedgedBytes = this.#counts[HEDGED_BYTES] as number;
    const budget = HEDGED_SHARE * this.#totalBytes - hedgedBytes;
    let frames = slowdown > STUCK_FACTOR ? missing : missing.slice(missing.length >> 1);
    while (frames.length > 0 && this.#missing.span(frames) > budget) frames = frames.slice(1);
    const first = frames[0];
    const last = frames.at(-1);
    if (first === undefined || last === undefined) return undefined;
    this.#counts[HEDGED_BYTES] = hedgedBytes + this.#missing.span(frames);
    this.#counts[HEDGES + index] = hedges + 1;
    return { index, first, end: last + 1, kind: "hedge" };
  }
}

/**
 * Returns whether to end the prefetch of a range: it is slow, and nothing else is left to fetch. Several
 * connections then fetch the rest of the range.
 *
 * @param received the number of bytes that have arrived
 * @param left the number of bytes that have not
 */
export function isPrefetchSlow(
  scheduler: RangeScheduler,
  index: number,
  received: number,
  left: number,
): boolean {
  if (!scheduler.isAwaiting(index)) return false;
  scheduler.timings.setReceived(index, received);
  return scheduler.timings.slowdown(index, left) >= SLOW_FACTOR;
}
