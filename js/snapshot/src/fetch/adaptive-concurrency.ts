import type { SharedCounters } from "../decode/shared-counters.js";
import type { ConnectionLimit } from "./connection-limit.js";
import { now } from "./range-timings.js";

/** How often it is checked whether everything can wait, in milliseconds. */
const TICK = 20;

/** How often the throughput is measured, in milliseconds. */
const INTERVAL = 200;

/** The factor by which the number of connections grows. */
const GROWTH = 1.5;

/** The factor by which the throughput must rise for more connections to stay. */
const MIN_GAIN = 1.1;

/** For how many intervals the number of connections rests after more of them were no faster. */
const REST_INTERVALS = 10;

/** For how long the number of connections does not grow after the server asked for fewer, in milliseconds. */
const RECOVERY = 2_000;

/** How the number of connections adapts. */
interface ConcurrencyOptions {
  readonly max: number;
  readonly isFixed: boolean;
  readonly isInTheWay: () => boolean;
  readonly canWait: () => boolean;
}

/** Adapts the number of connections to the throughput: grows it while that makes the transfer faster. */
export class AdaptiveConcurrency {
  readonly #limit: ConnectionLimit;
  readonly #counters: SharedCounters;
  readonly #max: number;
  readonly #isFixed: boolean;
  readonly #isInTheWay: () => boolean;
  readonly #canWait: () => boolean;
  /** The number of connections before everything began to wait. */
  #paused: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The state before the last growth, while its effect is being measured. */
  #before: { readonly connections: number; readonly throughput: number } | undefined;
  #restIntervals = 0;
  #bytes = 0;
  #time = 0;

  /**
   * @param max the largest number of connections
   * @param isFixed whether the caller asked for exactly `max` connections: their number does not depend on the throughput
   * @param isInTheWay whether the transfer slows down something more urgent
   * @param canWait whether nobody needs the transfer at the moment
   */
  constructor(
    limit: ConnectionLimit,
    counters: SharedCounters,
    { max, isFixed, isInTheWay, canWait }: ConcurrencyOptions,
  ) {
    this.#limit = limit;
    this.#counters = counters;
    this.#max = max;
    this.#isFixed = isFixed;
    this.#isInTheWay = isInTheWay;
    this.#canWait = canWait;
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
    if (this.#canWait()) this.#pause();
    else if (this.#paused !== undefined) this.#resume(this.#paused);
    else if (performance.now() - this.#time >= INTERVAL) this.#adapt();
  }

  #adapt(): void {
    const throughput = this.#throughput();
    if (this.#isInTheWay()) this.#giveWay();
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
    const [time, { transferredBytes }] = [performance.now(), this.#counters.counts];
    const throughput = (transferredBytes - this.#bytes) / Math.max(1, time - this.#time);
    [this.#time, this.#bytes] = [time, transferredBytes];
    return throughput;
  }
}
