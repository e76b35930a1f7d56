/** Durations of one kind of event, in milliseconds. */
export interface Timing {
  /** The number of events. */
  readonly count: number;
  /** The sum of their durations. */
  readonly total: number;
  /** The longest duration. */
  readonly longest: number;
}

/** How often each kind of event has happened. */
export interface Counts {
  /** Images that were in the cache when they were requested. */
  readonly hits: number;
  /** Images that had to be restored or waited for. */
  readonly misses: number;
  /** Images restored into the cache. */
  readonly fills: number;
  /** Restores into the cache that failed or were cancelled. */
  readonly failures: number;
  /** Images evicted to free space. */
  readonly evictions: number;
  /** Images removed because they were damaged. */
  readonly damaged: number;
}

/** How long this process has waited for images. */
export interface Timings {
  /** Until an image in the cache could be used. */
  readonly hit: Timing;
  /** Until an image that was not in the cache could be used. */
  readonly miss: Timing;
  /** Until another process had finished restoring the same image. */
  readonly wait: Timing;
}

const NO_TIMING: Timing = { count: 0, total: 0, longest: 0 };

export const ZERO_COUNTS: Counts = {
  hits: 0,
  misses: 0,
  fills: 0,
  failures: 0,
  evictions: 0,
  damaged: 0,
};

/** Counts the events of this process. */
export class Counters {
  readonly counts = { ...ZERO_COUNTS };
  readonly #timings = { hit: NO_TIMING, miss: NO_TIMING, wait: NO_TIMING };
  #reported: Counts = { ...this.counts };

  /** Counts a request for an image. */
  countGet(hit: boolean, milliseconds: number): void {
    this.counts[hit ? "hits" : "misses"] += 1;
    this.addTiming(hit ? "hit" : "miss", milliseconds);
  }

  addTiming(kind: keyof Timings, milliseconds: number): void {
    const { count, total, longest } = this.#timings[kind];
    this.#timings[kind] = {
      count: count + 1,
      total: total + milliseconds,
      longest: Math.max(longest, milliseconds),
    };
  }

  get timings(): Timings {
    return { ...this.#timings };
  }

  /** Returns what was counted since the last report. */
  unreported(): Counts {
    return combine(this.counts, this.#reported, (now, then) => now - then);
  }

  /** Returns what was counted since the last report, and marks it as reported. */
  report(): Counts {
    const counted = this.unreported();
    this.#reported = { ...this.counts };
    return counted;
  }
}

/** Combines two sets of counts, count by count. */
export function combine(one: Counts, other: Counts, of: (a: number, b: number) => number): Counts {
  const names = Object.keys(one) as (keyof Counts)[];
  return Object.fromEntries(
    names.map((name) => [name, of(one[name], other[name])]),
  ) as unknown as Counts;
}
