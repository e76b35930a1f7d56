// Turns samples into results.
import { summary } from "../../../scripts/lib/summary.mjs";

/** @typedef {import("../../harness/results.mjs").Result} Result */
/** @typedef {import("../../harness/results.mjs").Measured} Measured */

export const SUITE = `cache-node${process.versions.node.split(".")[0]}`;

/**
 * @param {string} quantity
 * @param {string} workload
 * @param {string} method
 * @param {string} unit
 * @param {number[]} samples
 * @param {Result["details"]} [details]
 * @returns {Result}
 */
export function result(quantity, workload, method, unit, samples, details) {
  return { suite: `${SUITE}, ${quantity}`, workload, method, unit, ...summary(samples), details };
}

/**
 * Returns a result for each method.
 *
 * @param {string} quantity
 * @param {string} workload
 * @param {import("../../harness/turns.mjs").Timed[]} timed
 * @param {Result["details"]} [details]
 * @returns {Measured[]}
 */
export function times(quantity, workload, timed, details) {
  return timed.map(({ name, samples, why }) =>
    why === undefined
      ? result(quantity, workload, name, "ms", samples, details)
      : { suite: `${SUITE}, ${quantity}`, workload, method: name, why },
  );
}
