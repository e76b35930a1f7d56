/**
 * How often tests try what differs at random, or in many places, and on how much: in `npm test` so that it shows
 * that it works, and where `HEDGEROW_TRIALS=all` is set, as it is by `npm run fuzz`, so that it finds what is seldom.
 */
const isAll = process.env.HEDGEROW_TRIALS === "all";

/** How many trials there are, or how large they are. What is random begins with the same seeds in either case. */
export function trials({ few, all }: { readonly few: number; readonly all: number }): number {
  return isAll ? all : few;
}
