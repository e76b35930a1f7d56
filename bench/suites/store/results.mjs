// Names of results.
import { NODE } from "../../harness/results.mjs";

export const SUITE = `store-${NODE}`;

/**
 * Returns the subject of results.
 *
 * @param {string} quantity
 * @param {string} workload
 * @param {string} [unit]
 * @returns {import("../../harness/results.mjs").About}
 */
export const about = (quantity, workload, unit = "ms") => ({
  suite: `${SUITE}, ${quantity}`,
  ...{ workload, unit },
});
