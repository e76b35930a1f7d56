// How often first uses are measured.

/** @typedef {{ rounds: number }} Plan */

/** @type {Plan} */
export const PLAN = { rounds: 41 };

/** @type {Plan} */
export const QUICK = { rounds: 1 };
