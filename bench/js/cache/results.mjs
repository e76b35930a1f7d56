// What is kept of what was measured.
import { summary } from "../../../scripts/lib/summary.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Result} Result */

const SUITE = `cache-node${process.versions.node.split(".")[0]}`;

/**
 * @param {string} what
 * @param {string} workload
 * @param {string} method
 * @param {string} unit
 * @param {number[]} samples
 * @returns {Result}
 */
export function result(what, workload, method, unit, samples) {
  return { suite: `${SUITE}, ${what}`, workload, method, unit, ...summary(samples) };
}

/**
 * A row for each way.
 *
 * @param {string} what
 * @param {string} workload
 * @param {import("./turns.mjs").Timed[]} timed
 */
export function times(what, workload, timed) {
  return timed.map(({ name, samples }) => result(what, workload, name, "ms", samples));
}
