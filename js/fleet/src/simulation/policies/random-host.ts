import type { Random } from "../random.js";

/** Returns the row of any available host. There must be one. */
export function randomHost(random: Random, count: number, capacities: Float64Array): number {
  for (;;) {
    const row = random.below(count);
    if (capacities[row] !== 0) return row;
  }
}
