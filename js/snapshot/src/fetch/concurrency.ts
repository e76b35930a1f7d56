/** How many connections the workers of a transfer use together: the number they share, and how it adapts. */
import type { DecodeJob } from "../decode/decode-job.js";
import { now } from "./range-timings.js";

/** The shortest time between two halvings of the limit, in milliseconds. */
const MIN_HALVING_INTERVAL = 1_000;

/** The index of each count. */
const LIMIT = 0;
const WORKERS = 1;
const IS_URGENT = 2;

/** The offset of the time of the last halving, aligned to its size. */
const TIME_OFFSET = 4 * Int32Array.BYTES_PER_ELEMENT;

/** The number of connections that all workers together may use, in memory that they share. */
export class ConnectionLimit {
  readonly #counts: Int32Array;
  readonly #loweredAt: Float64Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#counts = new Int32Array(buffer, 0, 3);
    this.#loweredAt = new Float64Array(buffer, TIME_OFFSET, 1);
  }

  static of(value: number): ConnectionLimit {
    const bytes = TIME_OFFSET + Float64Array.BYTES_PER_ELEMENT;
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
    this.#loweredAt[0] = now();
    // Everything may be paused, or about to give way.
    if (this.value > 1) Atomics.store(this.#counts, LIMIT, this.value >> 1);
  }

  /** The time of the last halving, as of {@link now}; 0 if there was none. */
  get loweredAt(): number {
    return this.#loweredAt[0] as number;
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

/** How often to check whether everything can wait, in milliseconds. */
const TICK = 20;

/** How often to measure the throughput, in milliseconds. */
const INTERVAL = 200;

/** The factor by which the number of connections grows. */
const GROWTH = 1.5;

/** The factor by which the throughput must rise for more connections to stay. */
const MIN_GAIN = 1.1;

/** For how many intervals the number of connections rests after more of them were no faster. */
const REST_INTERVALS = 10;

/** For how long the number of connections does not grow after the server asked for fewer, in milliseconds. */
const RECOVERY = 2_000;

/** Adapts the number of connections to the throughput: grows it while that makes the transfer faster. */
export class AdaptiveConcurrency {
  readonly #limit: ConnectionLimit;
  readonly #job: DecodeJob;
  readonly #max: number;
  readonly #isFixed: boolean;
  /** The number of connections before everything began to wait. */
  #paused: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The state before the last growth, while its effect is being measured. */
  #before: { readonly connections: number; readonly throughput: number } | undefined;
  #restIntervals = 0;
  #bytes = 0;
  #time = 0;

  /**
   * @param job tells how much has arrived, and whether something more urgent needs the link
   * @param max the largest number of connections
   * @param isFixed whether the caller asked for exactly `max` connections, whatever the throughput
   */
  constructor(limit: ConnectionLimit, job: DecodeJob, max: number, isFixed: boolean) {
    this.#limit = limit;
    this.#job = job;
    this.#max = max;
    this.#isFixed = isFixed;
  }

  /** Starts to adapt. @param onChange called with the number of connections when it changes */
  start(onChange: (connections: number) => void): void {
    this.#time = performance.now();
    let reported = this.#limit.value;
    this.#timer = setInterval(() => {
      this.#check();
      const { value } = this.#limit;
      if (value !== reported) onChange(value);
      reported = value;
    }, TICK);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    if (this.#job.canWait()) this.#pause();
    else if (this.#paused !== undefined) this.#resume(this.#paused);
    else if (performance.now() - this.#time >= INTERVAL) this.#adapt();
  }

  #adapt(): void {
    const throughput = this.#throughput();
    if (this.#job.isInTheWay()) this.#giveWay();
    else if (now() - this.#limit.loweredAt < RECOVERY) this.#before = undefined;
    else if (this.#before !== undefined) this.#judge(this.#before, throughput);
    else if (this.#restIntervals > 0 && !this.#isFixed) this.#restIntervals -= 1;
    else this.#grow(throughput);
  }

  #pause(): void {
    this.#before = undefined;
    this.#paused ??= this.#limit.value;
    this.#limit.giveWay(0);
  }

  #resume(connections: number): void {
    this.#paused = undefined;
    this.#limit.value = connections;
    this.#throughput();
  }

  #giveWay(): void {
    this.#before = undefined;
    this.#limit.giveWay(Math.max(1, this.#limit.value >> 1));
  }

  /** Grows again if the last growth raised the throughput, and otherwise takes it back. */
  #judge(before: { connections: number; throughput: number }, throughput: number): void {
    this.#before = undefined;
    if (throughput > MIN_GAIN * before.throughput || this.#isFixed) {
      this.#grow(throughput);
    } else {
      this.#limit.value = before.connections;
      this.#restIntervals = REST_INTERVALS;
    }
  }

  #grow(throughput: number): void {
    const connections = this.#limit.value;
    const next = Math.min(this.#max, Math.ceil(connections * GROWTH));
    if (next <= connections) return;
    this.#before = { connections, throughput };
    this.#limit.value = next;
  }

  /** Returns the throughput since the last call, in bytes per millisecond. */
  #throughput(): number {
    const time = performance.now();
    const { transferredBytes } = this.#job.counters.counts;
    const throughput = (transferredBytes - this.#bytes) / Math.max(1, time - this.#time);
    this.#time = time;
    this.#bytes = transferredBytes;
    return throughput;
  }
}
