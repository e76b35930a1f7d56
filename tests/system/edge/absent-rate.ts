/** Checks the share of absent paths that pass against the false positive rate of the filters. */
import type { Outcome } from "./exchanges.js";

export class AbsentRate {
  readonly #falsePositiveRate: number;
  #requests = 0;
  #passed = 0;
  #unchecked = 0;

  constructor(falsePositiveRate: number) {
    this.#falsePositiveRate = falsePositiveRate;
  }

  count(outcome: Outcome): void {
    this.#requests += 1;
    if (outcome === "passed") this.#passed += 1;
  }

  /** Counts requests that passed because their filter could not be loaded. */
  countUnchecked(requests: number): void {
    this.#unchecked += requests;
  }

  /** Throws if more paths passed than the false positive rate explains. */
  check(): void {
    const expected = this.#requests * this.#falsePositiveRate;
    // Six standard deviations, and a margin for small expected values.
    const max = expected + 6 * Math.sqrt(expected) + 3;
    const found = `${this.#passed} of ${this.#requests}, ${this.#unchecked} of them unchecked`;
    if (this.#passed - this.#unchecked > max) {
      throw new Error(`expected at most ${max} absent paths to pass, found ${found}`);
    }
    if (this.#unchecked > this.#requests / 10) {
      throw new Error(`expected nearly all absent paths to be checked, found ${found}`);
    }
  }
}
