/** Counters of a cache: of this process, and the totals of all processes in a file. */
import { readWholeFile } from "../local/open-file.js";
import { move, type OpenDirectory, writeFile } from "./files.js";

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

/** The maximum length of the file, in bytes. */
const MAX_LENGTH = 2 ** 16;

/** The minimum time between two additions by a process that only has hits, in milliseconds. */
const REPORT_INTERVAL = 10_000;

/**
 * The sum of the counters of all processes, in a file of the cache.
 *
 * Each process adds its own after a fill, every ten seconds of use, and when it closes the cache. A process that is
 * killed loses the counts that it has not added.
 */
export class Totals {
  /** When this process last added its counters. */
  #addedAt = performance.now();

  constructor(private readonly directory: OpenDirectory) {}

  /** Returns the totals, including what `counters` has not added yet. */
  async with(counters: Counters): Promise<Counts> {
    return combine(await this.#read(), counters.unreported(), (sum, more) => sum + more);
  }

  /** Adds what was counted since the last time, if that was more than ten seconds ago. */
  async addNowAndThen(counters: Counters): Promise<void> {
    if (performance.now() - this.#addedAt > REPORT_INTERVAL) await this.add(counters);
  }

  /** Adds what was counted since the last time. Ignores failures, such as a full disk. */
  async add(counters: Counters): Promise<void> {
    this.#addedAt = performance.now();
    const counted = counters.report();
    if (Object.values(counted).every((count) => count === 0)) return;
    await this.directory.mutex
      .run(async () => {
        const { totals, newTotals } = this.directory.layout;
        const sum = combine(await this.#read(), counted, (before, more) => before + more);
        await writeFile(newTotals, `${JSON.stringify(sum)}\n`);
        await move(newTotals, totals);
      })
      .catch(() => {});
  }

  async #read(): Promise<Counts> {
    const { totals } = this.directory.layout;
    const bytes = await readWholeFile(totals, MAX_LENGTH).catch(() => undefined);
    try {
      const found = JSON.parse(bytes?.toString() ?? "{}") as Counts;
      return combine(ZERO_COUNTS, found, (_, count) => (isCount(count) ? count : 0));
    } catch {
      return ZERO_COUNTS;
    }
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The state of a cache, and the counters of this process. */
export interface CacheStats extends Counts, Timings {
  /** The number of images in the cache. */
  readonly entries: number;
  /** The disk usage of the directory, in bytes, including space reserved for images that are being restored. */
  readonly bytes: number;
  /** The limit with which this process opened the cache, in bytes. */
  readonly maxBytes: number;
  /** How far the cache is above its limit, in bytes, because images in use cannot be evicted. */
  readonly excessBytes: number;
  /** The number of images that this process uses. */
  readonly leases: number;
  /** The disk usage of the images that this process uses, in bytes. */
  readonly leasedBytes: number;
  /** The counters of all processes that ever opened the cache. Those of running processes lag by some seconds. */
  readonly totals: Counts;
}

/** The result of verifying a cache. */
export interface Verified {
  /** The number of intact images. */
  readonly good: number;
  /** The digests of the damaged images, which were removed unless the cache is read-only. */
  readonly damaged: readonly string[];
}

/** The images that were evicted. */
export interface Pruned {
  /** The number of images. */
  readonly images: number;
  /** Their disk usage, in bytes. */
  readonly bytes: number;
}
