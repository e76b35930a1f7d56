/** The queue of ranges that all connections take from, and when the frames in them arrive. */
import type { FrameStates } from "../decode/frame-states.js";
import type { Frames } from "../format/frames.js";
import { ConnectionLimit } from "./concurrency.js";
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
const NEXT = 0;
const GIVEN_BACK = 1;
const STATES = 2;

/** The states of a range that is prefetched, or was given back. This one: it is being prefetched. */
const PENDING = 0;
/** Its first bytes have arrived, and wait to be decoded. */
const READY = 1;
/** None have arrived, or it was given back: it must be fetched. */
const OPEN = 2;
/** A connection has it. */
const TAKEN = 3;

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
   * @param ordered how many of them are prefetched or wanted first. Default: `prefetched`
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

  /** Whether the next range waits for the ranges that are wanted first, which need the link and the processors. */
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

/** How long a range may run before it is late for readers in bulk, in milliseconds. */
const BULK_LATE = 500;

/** Estimates when the frames that connections are fetching will arrive. */
export class Arrivals {
  readonly #frames: Frames;
  readonly #states: FrameStates;
  readonly #scheduler: RangeScheduler;
  readonly #isLimited: boolean;
  /** The number of the range of each frame, plus 1; 0 if it has none. */
  readonly #ranges: Uint32Array;

  /** @param isLimited whether the rate of the requests is limited */
  constructor(frames: Frames, states: FrameStates, scheduler: RangeScheduler, isLimited: boolean) {
    this.#frames = frames;
    this.#states = states;
    this.#scheduler = scheduler;
    this.#isLimited = isLimited;
    this.#ranges = new Uint32Array(frames.count);
    for (let index = 0; index < scheduler.count; index += 1) {
      const { first, end } = scheduler.range(index);
      this.#ranges.fill(index + 1, first, end);
    }
  }

  /**
   * Returns in how many milliseconds a frame will have arrived; `Infinity` if it will not, or is late.
   *
   * @param latency how long the server takes for the first byte, in milliseconds
   * @param isBulk whether readers wait for many frames, and accept that a range runs for longer
   */
  in(frame: number, latency: number, isBulk: boolean): number {
    const index = (this.#ranges[frame] as number) - 1;
    const { timings, limit } = this.#scheduler;
    const untaken = this.#scheduler.next;
    // The rate limit decides when a range is taken.
    if (index >= untaken && this.#isLimited) return Number.POSITIVE_INFINITY;
    if (index >= untaken) return timings.average * (1 + (index + 1 - untaken) / limit.value);
    if (index < 0 || !timings.isRunning(index)) return Number.POSITIVE_INFINITY;
    const elapsed = timings.elapsed(index);
    const received = timings.receivedOf(index);
    if (isBulk && elapsed < BULK_LATE) return latency;
    if (received === 0) {
      return elapsed < 2 * latency ? Math.max(0, latency - elapsed) : Number.POSITIVE_INFINITY;
    }
    const { first } = this.#scheduler.range(index);
    const next = this.#states.firstMissing(first, frame) ?? frame;
    const end = this.#frames.fileOffset(frame) + this.#frames.compressedLength(frame);
    // `received` counts only the current request, not the earlier ones for the range.
    const left = Math.min(
      end - this.#frames.fileOffset(next),
      Math.max(0, end - this.#frames.fileOffset(first) - received),
    );
    return (left / received) * Math.max(0, elapsed - latency);
  }
}
