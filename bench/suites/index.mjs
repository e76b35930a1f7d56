// The suites of benchmarks and how long each takes on two idle cores.

/** @typedef {import("../harness/results.mjs").Measured} Measured */

/**
 * A suite. `prepare` installs and builds; its result is passed to `measure`.
 *
 * @typedef {{ prepare?: () => unknown, measure: (isQuick: boolean, prepared: any) => Promise<Measured[]> }} Suite
 */

/** @typedef {{ minutes: number, quickSeconds: number, load: () => Promise<Suite> }} Entry */

/** @type {Record<string, Entry>} */
export const SUITES = {
  headers: { minutes: 11, quickSeconds: 45, load: () => import("./headers/suite.mjs") },
  paths: { minutes: 18, quickSeconds: 60, load: () => import("./paths/suite.mjs") },
  snapshot: { minutes: 4, quickSeconds: 10, load: () => import("./snapshot/suite.mjs") },
  restore: { minutes: 30, quickSeconds: 50, load: () => import("./restore/suite.mjs") },
  cache: { minutes: 8, quickSeconds: 30, load: () => import("./cache/suite.mjs") },
  start: { minutes: 4, quickSeconds: 15, load: () => import("./start/suite.mjs") },
  adapters: { minutes: 13, quickSeconds: 30, load: () => import("./adapters/suite.mjs") },
};

/** Returns how many seconds suites take together. @param {string[]} names @param {boolean} isQuick */
export function secondsOf(names, isQuick) {
  const seconds = names.map((name) => {
    const { minutes = 0, quickSeconds = 0 } = SUITES[name] ?? {};
    return isQuick ? quickSeconds : 60 * minutes;
  });
  return seconds.reduce((sum, one) => sum + one, 0);
}
