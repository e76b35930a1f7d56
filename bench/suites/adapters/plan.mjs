// What is measured of adapters, and how often.

/**
 * @typedef {object} Plan
 * @property {number} rounds how often each way has its turn
 * @property {number} warmUps how often before that
 * @property {number} seconds how long a turn is measured
 * @property {number} warmUp how many requests go before, so that code is compiled as it will stay
 * @property {number} connections how many requests there are at a time
 */

/** @type {Plan} */
export const PLAN = { rounds: 5, warmUps: 1, seconds: 3, warmUp: 40_000, connections: 16 };

/** @type {Plan} */
export const QUICK = { rounds: 1, warmUps: 0, seconds: 0.5, warmUp: 2000, connections: 16 };

/** Fields of a request. The names are of a workload; framing is left to clients. */
export const REQUEST_FIELDS = 20;

/**
 * What adapters are to do. `bare` is the framework without one, and `nothing` with middleware, a hook or an
 * interceptor that does nothing. `nothing internal` has as many rules as `headers`, none of which matches.
 */
export const WAYS = /** @type {const} */ ([
  "bare",
  "nothing",
  "nothing internal",
  "headers",
  "headers and paths",
]);

/** @typedef {(typeof WAYS)[number]} Way */
