import { ConnectionLimit } from "./connection-limit.js";
import { hedgingBuffer } from "./hedging.js";
import { RangeTimings } from "./range-timings.js";

/** A range of a snapshot: its frames [first, end). */
export interface FrameRange {
  readonly index: number;
  readonly first: number;
  readonly end: number;
}

/** A range that a connection has taken. */
export interface ScheduledRange extends FrameRange {
  /**
   * - `fetch`: download the range
   * - `hedge`: download it a second time, because the connection that has it is slow
   * - `prefetched`: decode the bytes that were requested before the ranges were known
   */
  readonly kind: "fetch" | "hedge" | "prefetched";
}

/** The memory that the schedulers of all threads share. */
export interface SchedulerData {
  readonly bounds: SharedArrayBuffer;
  readonly queue: SharedArrayBuffer;
  readonly limit: SharedArrayBuffer;
  readonly timings: SharedArrayBuffer;
  readonly hedging: SharedArrayBuffer;
  /** How many of the ranges, counted from the first, are prefetched. */
  readonly prefetched: number;
  /** How many of them are prefetched or wanted first. */
  readonly ordered: number;
}

/** The slots of the queue: the next range to take, how many were given back, then the state of each range. */
const [NEXT, GIVEN_BACK, STATES] = [0, 1, 2] as const;

/** The states of a range that is prefetched, or was given back. */
const [PENDING, READY, OPEN, TAKEN] = [0, 1, 2, 3] as const;

/** A queue of ranges, in memory that the main thread and the workers share. */
export class RangeScheduler {
  readonly limit: ConnectionLimit;
  readonly timings: RangeTimings;
  readonly #bounds: Uint32Array;
  readonly #queue: Int32Array;

  constructor(readonly data: SchedulerData) {
    this.limit = new ConnectionLimit(data.limit);
    this.timings = new RangeTimings(data.timings);
    this.#bounds = new Uint32Array(data.bounds);
    this.#queue = new Int32Array(data.queue);
  }

  /**
   * @param bounds the first frame of each range, and the one after its last
   * @param limit the number of connections
   * @param prefetched how many of the ranges, counted from the first, are prefetched
   * @param ordered how many of them are prefetched or wanted first. Default: those that are prefetched
   */
  static of(
    bounds: Uint32Array,
    limit: number,
    prefetched: number,
    ordered = prefetched,
  ): RangeScheduler {
    const count = bounds.length / 2;
    const queueBytes = (STATES + count) * Int32Array.BYTES_PER_ELEMENT;
    const scheduler = new RangeScheduler({
      bounds: new SharedArrayBuffer(bounds.byteLength),
      queue: new SharedArrayBuffer(queueBytes),
      limit: ConnectionLimit.of(limit).buffer,
      timings: RangeTimings.of(count).buffer,
      hedging: hedgingBuffer(count),
      prefetched,
      ordered,
    });
    scheduler.#bounds.set(bounds);
    scheduler.#queue[NEXT] = prefetched;
    for (let index = 0; index < prefetched; index += 1) scheduler.timings.begin(index);
    return scheduler;
  }

  /** The number of the range that is taken next, apart from prefetched ones. */
  get next(): number {
    return Atomics.load(this.#queue, NEXT);
  }

  /** The number of ranges. */
  get count(): number {
    return this.#bounds.length / 2;
  }

  range(index: number): FrameRange {
    const [first, end] = this.#bounds.subarray(2 * index, 2 * index + 2);
    return { index, first: first as number, end: end as number };
  }

  /** Ends the prefetch of a range. `bytes` of it have arrived, from its start; connections fetch the rest. */
  prefetched(index: number, bytes: number): void {
    this.timings.setReceived(index, bytes);
    Atomics.store(this.#queue, STATES + index, bytes > 0 ? READY : OPEN);
  }

  /** Returns whether the prefetch of a range is still running although every other range is taken. */
  isAwaiting(index: number): boolean {
    const isPending = Atomics.load(this.#queue, STATES + index) === PENDING;
    return isPending && Atomics.load(this.#queue, NEXT) >= this.count;
  }

  /** Gives back a range that was not fetched completely. It is taken again before the others. */
  giveBack(index: number): void {
    this.timings.stop(index);
    Atomics.store(this.#queue, STATES + index, OPEN);
    Atomics.add(this.#queue, GIVEN_BACK, 1);
  }

  /** Takes the next range. Returns undefined if none is left. */
  take(): ScheduledRange | undefined {
    const { prefetched } = this.data;
    const hasGivenBack = Atomics.load(this.#queue, GIVEN_BACK) > 0;
    const end = hasGivenBack && !this.#isHeldBack ? this.count : prefetched;
    for (let index = 0; index < end; index += 1) {
      const state = Atomics.load(this.#queue, STATES + index);
      if (state === PENDING || state === TAKEN) continue;
      const found = Atomics.exchange(this.#queue, STATES + index, TAKEN);
      if (found === READY) return this.#scheduled(index, "prefetched");
      if (found !== OPEN) continue;
      if (index >= prefetched) Atomics.sub(this.#queue, GIVEN_BACK, 1);
      return this.#scheduled(index, "fetch");
    }
    // Check before adding: workers call this every few milliseconds, and the counter must not overflow.
    if (this.next >= this.count || this.#isHeldBack) return undefined;
    const index = Atomics.add(this.#queue, NEXT, 1);
    return index < this.count ? this.#scheduled(index, "fetch") : undefined;
  }

  /** Whether the next range has to wait for those that are wanted first, which need the link and the processors. */
  get #isHeldBack(): boolean {
    const { prefetched, ordered } = this.data;
    if (this.next < ordered) return false;
    for (let index = prefetched; index < ordered; index += 1)
      if (this.timings.isRunning(index)) return true;
    return false;
  }

  #scheduled(index: number, kind: ScheduledRange["kind"]): ScheduledRange {
    if (kind === "fetch") this.timings.begin(index);
    return { ...this.range(index), kind };
  }
}
