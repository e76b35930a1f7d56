import type { Random } from "../random.js";

/** Returns a generator of ranks below `count`: the share of the nth falls as 1 / n^exponent (Zipf's law). */
export function zipf(count: number, exponent: number, random: Random): () => number {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank += 1) {
    sum += (rank + 1) ** -exponent;
    sums[rank] = sum;
  }
  return () => {
    const found = random.next() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! <= found) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
