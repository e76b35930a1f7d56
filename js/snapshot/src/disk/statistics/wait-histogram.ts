import type { Histogram } from "./disk-stats.js";

/**
 * The upper bounds of the buckets of durations, in milliseconds: a request takes some of them, a server that is away
 * takes minutes.
 */
export const BOUNDS: readonly number[] = [
  ...[1, 2.5, 5, 10, 25, 50, 100, 250, 500],
  ...[1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000],
];

/** Counts waits by their length. */
export class WaitHistogram {
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0);
  #count = 0;
  #total = 0;
  #longest = 0;

  /** Counts a wait. @param duration in milliseconds */
  add(duration: number): void {
    const bound = BOUNDS.findIndex((limit) => duration <= limit);
    const bucket = bound === -1 ? BOUNDS.length : bound;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#count += 1;
    this.#total += duration;
    this.#longest = Math.max(this.#longest, duration);
  }

  get value(): Histogram {
    const timing = { count: this.#count, total: this.#total, longest: this.#longest };
    return { ...timing, bounds: [...BOUNDS], counts: [...this.#counts] };
  }
}
