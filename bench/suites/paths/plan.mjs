// The amount of data and the number of rounds.
import { SITE_PATHS } from "../../harness/site-paths.mjs";

/**
 * @typedef {object} Plan
 * @property {number} light rounds of methods that load in microseconds
 * @property {number} heavy rounds of methods that parse JSON
 * @property {number} asking rounds of checks
 * @property {number} askingRivals rounds of checks by slow methods
 * @property {number} builds rounds of building filters
 * @property {number} falsePositives expected number per filter that keeps its rate
 */

/** @type {Plan} */
export const PLAN = {
  light: 40,
  heavy: 25,
  asking: 60,
  askingRivals: 10,
  builds: 5,
  falsePositives: 200,
};

/** @type {Plan} */
export const QUICK = {
  light: 4,
  heavy: 1,
  asking: 4,
  askingRivals: 1,
  builds: 1,
  falsePositives: 10,
};

/** Sites that are loaded, by number of paths. */
export const SITES = [1000, 10_000, SITE_PATHS, 100_000];
