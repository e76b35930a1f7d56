/** A deterministic random number generator. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns an integer from 0 up to, but not including, `end` (mulberry32). */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((((mixed ^ (mixed >>> 14)) >>> 0) * end) / 2 ** 32) | 0;
  }

  /** Returns one of `items`, or one character of a string. */
  pick(items: readonly string[] | string): string {
    return items[this.below(items.length)]!;
  }

  /** Returns a string of characters of `alphabet`. */
  text(alphabet: string, length: number): string {
    let text = "";
    while (text.length < length) text += this.pick(alphabet);
    return text;
  }
}
