/** Choices that look random, and are the same in every run with the same seed. */
import { seededRandom } from "../origin/random.mjs";

/** What is done at a place is chosen by the seed and the place, whatever is chosen elsewhere, or before. */
export class Choices {
  readonly random: () => number;
  readonly #seed: number;

  constructor(seed: number, place: number) {
    this.#seed = Math.imul(seed ^ (seed >>> 15), 0x9e3779b1) + Math.imul(place + 1, 0x85ebca6b);
    this.random = seededRandom(this.#seed);
  }

  /** Choices of one of several that are made at the same time. */
  branch(index: number): Choices {
    return new Choices(this.#seed, index);
  }

  /** A number from 0 up to, but not including, `end`. */
  below(end: number): number {
    return Math.floor(this.random() * end);
  }

  /** Whether it is so, for a share of all cases. */
  chance(share: number): boolean {
    return this.random() < share;
  }

  pick<T>(items: readonly T[]): T {
    const { length } = items;
    if (length === 0) throw new Error("expected something to choose from, found nothing");
    return items[this.below(length)]!;
  }

  /** The same in another order. */
  shuffled<T>(items: readonly T[]): T[] {
    const left = [...items];
    return items.map(() => left.splice(this.below(left.length), 1)[0]!);
  }
}

/** Gives items in an order of its own, and begins anew when all have had their turn. */
export class Deck<T> {
  readonly #items: readonly T[];
  readonly #choices: Choices;
  #left: T[] = [];

  constructor(items: readonly T[], choices: Choices) {
    this.#items = items;
    this.#choices = choices;
  }

  next(): T {
    if (this.#left.length === 0) this.#left = this.#choices.shuffled(this.#items);
    return this.#left.pop()!;
  }

  take(count: number): T[] {
    return Array.from({ length: count }, () => this.next());
  }
}
