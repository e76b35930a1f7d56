// The effort of the native benchmarks.

/**
 * @typedef {object} Plan
 * @property {string[]} criterion options of criterion
 * @property {number} divisor of the number of queries that look for false positives
 */

/** @type {Plan} */
export const PLAN = { criterion: [], divisor: 1 };

/**
 * Two samples of each benchmark, within 0.1 seconds, with the minimum of statistics.
 *
 * @type {Plan}
 */
export const QUICK = {
  criterion: ["--quick", "--measurement-time=0.1", "--nresamples=1000"],
  divisor: 20,
};
