/** A seeded generator of numbers that look random (mulberry32). */
export class Random {
  /** The whole state: the same state gives the same numbers. */
  state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** Returns a number from 0 up to, but not including, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 up to, but not including, `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** Returns a number with an exponential distribution. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** Returns a number with a log-normal distribution. */
  logNormal(median: number, sigma: number): number {
    const normal = Math.sqrt(this.exponential(2)) * Math.cos(2 * Math.PI * this.next());
    return median * Math.exp(sigma * normal);
  }
}
