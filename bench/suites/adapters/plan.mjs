// The variants and the number of rounds.

/**
 * @typedef {object} Plan
 * @property {number} rounds measured
 * @property {number} warmUps rounds before those
 * @property {number} seconds measured of a turn
 * @property {number} warmUp requests before those, so that all code is optimised
 * @property {number} connections concurrent requests
 */

/** @type {Plan} */
export const PLAN = { rounds: 5, warmUps: 1, seconds: 3, warmUp: 40_000, connections: 16 };

/** @type {Plan} */
export const QUICK = { rounds: 1, warmUps: 0, seconds: 0.5, warmUp: 2000, connections: 16 };

/** The number of fields of a request. */
export const REQUEST_FIELDS = 20;

/**
 * What runs in a framework. `bare` is the framework alone, `nothing` a middleware, hook or interceptor that does nothing.
 * `nothing internal` has as many rules as `headers`, but none matches.
 */
export const VARIANTS = /** @type {const} */ ([
  "bare",
  "nothing",
  "nothing internal",
  "headers",
  "headers and paths",
]);

/** @typedef {(typeof VARIANTS)[number]} Variant */
