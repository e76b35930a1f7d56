import type { Mutex } from "../../local/locks.js";
import { readSmallFile } from "../../local/open-file.js";
import type { Layout } from "../directory/layout.js";
import { move, writeFile } from "../directory/write-files.js";
import { type Counters, type Counts, combine, ZERO_COUNTS } from "./counters.js";

/** The minimum time between two additions by a process that only has hits, in milliseconds. */
const INTERVAL = 10_000;

/**
 * The sum of the counters of all processes, in a file of the cache.
 *
 * Each process adds its own after a fill, every ten seconds of use, and when it closes the cache. A process that is
 * killed loses what it has not added.
 */
export class Totals {
  /** When this process last added its counters. */
  #addedAt = performance.now();

  constructor(
    private readonly layout: Layout,
    private readonly lock: Mutex,
  ) {}

  /** Returns the totals, including what `counters` has not added yet. */
  async with(counters: Counters): Promise<Counts> {
    return combine(await this.#read(), counters.unreported(), (sum, more) => sum + more);
  }

  /** Adds what was counted since the last time, unless that was a moment ago. */
  async addNowAndThen(counters: Counters): Promise<void> {
    if (performance.now() - this.#addedAt > INTERVAL) await this.add(counters);
  }

  /** Adds what was counted since the last time. Ignores failures, such as a full disk. */
  async add(counters: Counters): Promise<void> {
    this.#addedAt = performance.now();
    const counted = counters.report();
    if (Object.values(counted).every((count) => count === 0)) return;
    await this.lock
      .run(async () => {
        const { totals, newTotals } = this.layout;
        const sum = combine(await this.#read(), counted, (before, more) => before + more);
        await writeFile(newTotals, `${JSON.stringify(sum)}\n`);
        await move(newTotals, totals);
      })
      .catch(() => {});
  }

  async #read(): Promise<Counts> {
    const text = (await readSmallFile(this.layout.totals).catch(() => undefined)) ?? "{}";
    try {
      const found = JSON.parse(text) as Counts;
      return combine(ZERO_COUNTS, found, (_, count) => (isCount(count) ? count : 0));
    } catch {
      return ZERO_COUNTS;
    }
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
