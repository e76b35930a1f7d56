// Turns runs into results.
import { NODE, resultsOf } from "../../harness/results.mjs";

export const SUITE = `delta-${NODE}`;

/** @import { Details, Measured } from "../../harness/results.mjs" */
/** @typedef {import("../../harness/turns.mjs").Timed<import("./methods.mjs").Run>} Timed */

/** Returns the time of the call of each method. @param {string} quantity @param {string} workload @param {Timed[]} timed */
export const callTimes = (quantity, workload, timed) =>
  resultsOf(
    { suite: `${SUITE}, ${quantity}, the call`, workload, unit: "ms" },
    timed,
    ({ call = 0 }) => call,
  );

/**
 * Returns the time of each method, and of Hedgerow the time of the call, the processor time and the peak memory.
 *
 * @param {string} quantity
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {Details} [details]
 * @returns {Measured[]}
 */
export function times(quantity, workload, timed, details) {
  const about = (/** @type {string} */ what, /** @type {string} */ unit) => ({
    suite: `${SUITE}, ${quantity}${what}`,
    ...{ workload, unit },
  });
  const ours = timed.filter(({ samples: [first], why }) => {
    return first?.memory !== undefined && why === undefined;
  });
  return [
    ...resultsOf(about("", "ms"), timed, ({ elapsed }) => elapsed, details),
    ...callTimes(quantity, workload, ours),
    ...resultsOf(about(", processor time", "ms"), ours, ({ processor = 0 }) => processor),
    ...resultsOf(about(", peak memory", "MiB"), ours, ({ memory = 0 }) => memory / 2 ** 20),
  ];
}
