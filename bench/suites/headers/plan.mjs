// How often stripping headers is measured in JavaScript.

/**
 * @typedef {object} Plan
 * @property {Record<"raw" | "headers" | "block" | "growth", number>} rounds in Node, for each kind of message, and
 * for growing sets of rules
 * @property {number} workerRounds in workerd
 */

/**
 * Iterating a `Headers` is slow, and needs fewer rounds to settle.
 *
 * @type {Plan}
 */
export const PLAN = { rounds: { raw: 60, headers: 24, block: 40, growth: 40 }, workerRounds: 15 };

/** @type {Plan} */
export const QUICK = { rounds: { raw: 4, headers: 2, block: 4, growth: 2 }, workerRounds: 2 };
