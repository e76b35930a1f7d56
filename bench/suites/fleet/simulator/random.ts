/** Random numbers from a seed, so that a simulation can be repeated. */

/** A seeded generator (mulberry32). */
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

  /** Returns a generator of ranks below `count`: the share of the nth falls as 1 / n^exponent (Zipf's law). */
  zipf(count: number, exponent: number): () => number {
    const sums = new Float64Array(count);
    let sum = 0;
    for (let rank = 0; rank < count; rank += 1) {
      sum += (rank + 1) ** -exponent;
      sums[rank] = sum;
    }
    return () => {
      const found = this.next() * sum;
      let low = 0;
      let high = count - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (sums[middle]! <= found) low = middle + 1;
        else high = middle;
      }
      return low;
    };
  }
}
