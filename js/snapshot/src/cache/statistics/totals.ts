import type { Layout } from "../directory/layout.js";
import { move } from "../directory/replacing.js";
import { readSmall, writeSmall } from "../directory/small-file.js";
import type { CacheLock } from "../locks/lock.js";
import { type Counters, type Counts, combine, NONE } from "./counters.js";

/** How often a process that uses a cache adds what it counted, in milliseconds. */
const INTERVAL = 10_000;

/**
 * What all processes that had a cache open have counted, in a file of it. Each adds what it counted when it
 * has filled something, every ten seconds of use, and when it closes the cache: of those that are killed, the
 * last is lost.
 */
export class Totals {
  /** When that was done last. */
  #added = performance.now();

  constructor(
    private readonly layout: Layout,
    private readonly lock: CacheLock,
  ) {}

  /** The totals, with what a process has not added yet. */
  async with(counters: Counters): Promise<Counts> {
    return combine(await this.#read(), counters.peekNew(), (told, more) => told + more);
  }

  /** Adds what was counted since, if that was not done for a while. */
  async addNowAndThen(counters: Counters): Promise<void> {
    if (performance.now() - this.#added > INTERVAL) await this.add(counters);
  }

  async #read(): Promise<Counts> {
    const text = (await readSmall(this.layout.totals).catch(() => undefined)) ?? "{}";
    try {
      return combine(NONE, JSON.parse(text) as Counts, (_, found) => (isCount(found) ? found : 0));
    } catch {
      return NONE;
    }
  }

  /** Adds what was counted since. A disk that is full keeps nobody from working. */
  async add(counters: Counters): Promise<void> {
    this.#added = performance.now();
    const counted = counters.takeNew();
    if (Object.values(counted).every((count) => count === 0)) return;
    await this.lock
      .run(async () => {
        const { totals, newTotals } = this.layout;
        const sum = combine(await this.#read(), counted, (before, more) => before + more);
        await writeSmall(newTotals, `${JSON.stringify(sum)}\n`);
        await move(newTotals, totals);
      })
      .catch(() => {});
  }
}

function isCount(found: unknown): boolean {
  return Number.isSafeInteger(found) && (found as number) >= 0;
}
