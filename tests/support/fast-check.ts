/** fast-check with one seed, which is fixed in `npm test`; `npm run verify` sets and prints another one. */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.HEDGEROW_SEED ?? 1) });

export type * from "fast-check";
export { default } from "fast-check";
