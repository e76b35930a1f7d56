// How many paths there are in what is measured of path filters, and how often.
import { SITE_PATHS } from "../../harness/site-paths.mjs";

/**
 * @typedef {object} Plan
 * @property {number} light rounds for what is loaded in microseconds
 * @property {number} heavy rounds for what parses JSON
 * @property {number} asking rounds of asking for paths
 * @property {number} askingRivals the same for those that take long
 * @property {number} builds how often filters are built
 * @property {number} falsePositives that are waited for, by mean, of filters that are true to their rate
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

/** Numbers of paths that sites have which are loaded. */
export const SITES = [1000, 10_000, SITE_PATHS, 100_000];
