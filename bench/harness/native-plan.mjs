// How thoroughly the native benchmarks measure.

/**
 * @typedef {object} Plan
 * @property {string[]} criterion options of criterion
 * @property {number} divisor of how many queries there are that look for false positives
 */

/** @type {Plan} */
export const PLAN = { criterion: [], divisor: 1 };

/**
 * Two samples of each, within this many seconds, and no more statistics than criterion insists on.
 *
 * @type {Plan}
 */
export const QUICK = {
  criterion: ["--quick", "--measurement-time=0.1", "--nresamples=1000"],
  divisor: 20,
};
