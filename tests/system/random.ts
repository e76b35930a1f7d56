/** Pseudorandom choices, reproducible from a seed. */
import { seededRandom } from "../origin/random.mjs";

/** Choices that depend only on the seed and the stream, not on choices made in other streams. */
export class Choices {
  readonly random: () => number;
  readonly #seed: number;

  constructor(seed: number, stream: number) {
    this.#seed = Math.imul(seed ^ (seed >>> 15), 0x9e3779b1) + Math.imul(stream + 1, 0x85ebca6b);
    this.random = seededRandom(this.#seed);
  }

  /** Returns the choices of one of several concurrent tasks. */
  branch(index: number): Choices {
    return new Choices(this.#seed, index);
  }

  /** Returns an integer from 0 up to, but not including, `end`. */
  below(end: number): number {
    return Math.floor(this.random() * end);
  }

  /** Returns `true` with this probability. */
  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const { length } = items;
    if (length === 0) throw new Error("expected at least one item, found none");
    return items[this.below(length)]!;
  }

  /** Returns the items in random order. */
  shuffled<T>(items: readonly T[]): T[] {
    const remaining = [...items];
    return items.map(() => remaining.splice(this.below(remaining.length), 1)[0]!);
  }
}

/** Deals items in random order, and reshuffles when all of them were dealt. */
export class Deck<T> {
  readonly #items: readonly T[];
  readonly #choices: Choices;
  #remaining: T[] = [];

  constructor(items: readonly T[], choices: Choices) {
    this.#items = items;
    this.#choices = choices;
  }

  next(): T {
    if (this.#remaining.length === 0) this.#remaining = this.#choices.shuffled(this.#items);
    return this.#remaining.pop()!;
  }

  take(count: number): T[] {
    return Array.from({ length: count }, () => this.next());
  }
}
