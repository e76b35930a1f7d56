/** How many absent paths pass, and how many may. */
import type { Outcome } from "./exchanges.js";

export class AbsentRate {
  readonly #promised: number;
  #asked = 0;
  #passed = 0;
  #unchecked = 0;

  /** @param promised the share of false positives */
  constructor(promised: number) {
    this.#promised = promised;
  }

  count(outcome: Outcome): void {
    this.#asked += 1;
    if (outcome === "passed") this.#passed += 1;
  }

  /** Counts requests that passed because their filter could not be asked. */
  countUnchecked(requests: number): void {
    this.#unchecked += requests;
  }

  /** Throws unless as few passed as was promised. */
  check(): void {
    const expected = this.#asked * this.#promised;
    // Six standard deviations, and what makes a difference where hardly any is expected.
    const most = expected + 6 * Math.sqrt(expected) + 3;
    const found = `${this.#passed} of ${this.#asked}, ${this.#unchecked} of them unchecked`;
    if (this.#passed - this.#unchecked > most) {
      throw new Error(`expected at most ${most} absent paths to pass, found ${found}`);
    }
    if (this.#unchecked > this.#asked / 10) {
      throw new Error(`expected nearly all absent paths to be checked, found ${found}`);
    }
  }
}
