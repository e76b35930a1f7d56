/** How long something took, in milliseconds. */
export interface Timing {
  /** How often it happened. */
  readonly count: number;
  /** How long all of it took together. */
  readonly total: number;
  /** How long the longest took. */
  readonly longest: number;
}

/** What is counted of a cache. */
export interface Counts {
  /** How often an image was there. */
  readonly hits: number;
  /** How often it was not, or had to be waited for. */
  readonly misses: number;
  /** How many images were restored into the cache. */
  readonly fills: number;
  /** How often that failed, or was given up. */
  readonly failures: number;
  /** How many images went to make room. */
  readonly evictions: number;
  /** How many images went because they were damaged. */
  readonly damaged: number;
}

/** How long things take. */
export interface Timings {
  /** Until an image that was there could be used. */
  readonly hit: Timing;
  /** Until an image that was not there could be used. */
  readonly miss: Timing;
  /** For another process to be done with what this one wanted. */
  readonly wait: Timing;
}

const NEVER: Timing = { count: 0, total: 0, longest: 0 };

/** Nothing was counted yet. */
export const NONE: Counts = {
  hits: 0,
  misses: 0,
  fills: 0,
  failures: 0,
  evictions: 0,
  damaged: 0,
};

/** What a process counts. */
export class Counters {
  readonly counts = { ...NONE };
  readonly #timings = { hit: NEVER, miss: NEVER, wait: NEVER };
  #taken: Counts = { ...this.counts };

  /** Counts an image that was got. */
  got(hit: boolean, milliseconds: number): void {
    this.counts[hit ? "hits" : "misses"] += 1;
    this.took(hit ? "hit" : "miss", milliseconds);
  }

  took(what: keyof Timings, milliseconds: number): void {
    const { count, total, longest } = this.#timings[what];
    this.#timings[what] = {
      count: count + 1,
      total: total + milliseconds,
      longest: Math.max(longest, milliseconds),
    };
  }

  get timings(): Timings {
    return { ...this.#timings };
  }

  /** What was counted since it was last taken. */
  peekNew(): Counts {
    return combine(this.counts, this.#taken, (now, then) => now - then);
  }

  /** The same, which is then no longer new. */
  takeNew(): Counts {
    const found = this.peekNew();
    this.#taken = { ...this.counts };
    return found;
  }
}

/** What two counted, number by number. */
export function combine(one: Counts, other: Counts, of: (a: number, b: number) => number): Counts {
  const names = Object.keys(one) as (keyof Counts)[];
  return Object.fromEntries(
    names.map((name) => [name, of(one[name], other[name])]),
  ) as unknown as Counts;
}
