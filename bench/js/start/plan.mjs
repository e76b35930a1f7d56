// How often first uses are measured.

/** @typedef {{ rounds: number }} Plan */

/** @type {Plan} */
export const PLAN = { rounds: 41 };
