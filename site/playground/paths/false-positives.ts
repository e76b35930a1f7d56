/** Measures the false-positive rate of a filter. */
import type { PathFilter } from "hedgerow";
import { pause } from "../shared/pause.js";

/** How many paths are generated. */
export const GENERATED = 1_000_000;

const STEP = 20_000;

/**
 * Returns how many of a million generated paths a filter reports as present.
 *
 * @param onProgress called with the share that is done, from 0 to 1
 */
export async function countFalsePositives(
  filter: PathFilter,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<number> {
  const run = Math.random().toString(36).slice(2);
  let found = 0;
  for (let start = 0; start < GENERATED; start += STEP) {
    for (let number = start; number < start + STEP; number += 1) {
      if (filter.has(`/generated/${run}/${number}`)) found += 1;
    }
    onProgress((start + STEP) / GENERATED);
    await pause();
    signal.throwIfAborted();
  }
  return found;
}
