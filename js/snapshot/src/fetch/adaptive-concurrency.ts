import type { SharedCounters } from "../decode/shared-counters.js";
import { now, type RangeScheduler } from "./range-scheduler.js";

/** How often the speed is looked at, in milliseconds. */
const INTERVAL = 200;

/** By how much connections grow, and how much faster it must be then for them to stay. */
const [GROWTH, GAIN] = [1.5, 1.1];

/** How long what did not pay is not tried again, in intervals. */
const REST = 10;

/** How long there are no more connections after a server asked for less, in milliseconds. */
const RECOVERY = 2_000;

/** Finds out how many connections pay: more while that is faster, fewer when the server asks for it. */
export class AdaptiveConcurrency {
  readonly #scheduler: RangeScheduler;
  readonly #counters: SharedCounters;
  readonly #most: number;
  readonly #isFixed: boolean;
  #timer: NodeJS.Timeout | undefined;
  /** What there was before the last growth, and how fast it was, if that is being tried. */
  #before: { readonly limit: number; readonly speed: number } | undefined;
  #rest = 0;
  #bytes = 0;
  #time = 0;

  /**
   * @param most how many there may be
   * @param isFixed whether that is also how many there are to be
   */
  constructor(scheduler: RangeScheduler, counters: SharedCounters, most: number, isFixed: boolean) {
    this.#scheduler = scheduler;
    this.#counters = counters;
    this.#most = most;
    this.#isFixed = isFixed;
  }

  /** Begins. @param changed is called with the number of connections when it changes */
  start(changed: (limit: number) => void): void {
    this.#time = performance.now();
    let told = this.#scheduler.limit;
    this.#timer = setInterval(() => {
      this.#adapt();
      const { limit } = this.#scheduler;
      if (limit !== told) changed(limit);
      told = limit;
    }, INTERVAL);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #adapt(): void {
    const speed = this.#speed();
    if (now() - this.#scheduler.slowed < RECOVERY) this.#before = undefined;
    else if (this.#before !== undefined) this.#judge(this.#before, speed);
    else if (this.#rest > 0 && !this.#isFixed) this.#rest -= 1;
    else this.#grow(speed);
  }

  /** Goes on if the last growth paid, and takes it back otherwise. */
  #judge({ limit, speed: before }: { limit: number; speed: number }, speed: number): void {
    this.#before = undefined;
    if (speed > GAIN * before || this.#isFixed) {
      this.#grow(speed);
    } else {
      this.#scheduler.limit = limit;
      this.#rest = REST;
    }
  }

  #grow(speed: number): void {
    const { limit } = this.#scheduler;
    const next = Math.min(this.#most, Math.ceil(limit * GROWTH));
    if (next <= limit) return;
    this.#before = { limit, speed };
    this.#scheduler.limit = next;
  }

  /** How fast bytes came since it was last asked, in bytes a millisecond. */
  #speed(): number {
    const [now, { transferredBytes }] = [performance.now(), this.#counters.counts];
    const speed = (transferredBytes - this.#bytes) / Math.max(1, now - this.#time);
    [this.#time, this.#bytes] = [now, transferredBytes];
    return speed;
  }
}
