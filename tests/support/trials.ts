/**
 * The number of trials of randomised and exhaustive tests: few in `npm test`, and all where `HEDGEROW_TRIALS=all` is
 * set, as in `npm run verify`, to find rare failures.
 */
const isAll = process.env.HEDGEROW_TRIALS === "all";

/** Returns the number of trials, or their size. The seeds are the same in either case. */
export function trials({ few, all }: { readonly few: number; readonly all: number }): number {
  return isAll ? all : few;
}

/** Returns the limit of a test of many trials, which needs more than the default of one minute on a busy machine. */
export function minutes({ few = 2, all }: { readonly few?: number; readonly all: number }) {
  return { timeout: 60_000 * (isAll ? all : few) };
}
