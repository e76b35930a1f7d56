// The suites of benchmarks and how long each takes on two idle cores.

/**
 * A suite, with the plans of a full and of a quick run. `prepare` installs and builds; its result is passed to
 * `measure`.
 *
 * @typedef {object} Suite
 * @property {unknown} PLAN
 * @property {unknown} QUICK
 * @property {() => unknown} [prepare]
 * @property {(plan: any, prepared: any) => Measured[] | Promise<Measured[]>} measure
 */

/** @import { Measured } from "../harness/results.mjs" */

/** @typedef {{ minutes: number, quickSeconds: number, load: () => Promise<Suite> }} Entry */

/** @type {Record<string, Entry>} */
export const SUITES = {
  headers: { minutes: 24, quickSeconds: 100, load: () => import("./headers/suite.mjs") },
  paths: { minutes: 24, quickSeconds: 65, load: () => import("./paths/suite.mjs") },
  snapshot: { minutes: 4, quickSeconds: 10, load: () => import("./snapshot/suite.mjs") },
  restore: { minutes: 30, quickSeconds: 50, load: () => import("./restore/suite.mjs") },
  cache: { minutes: 8, quickSeconds: 30, load: () => import("./cache/suite.mjs") },
  delta: { minutes: 10, quickSeconds: 40, load: () => import("./delta/suite.mjs") },
  disk: { minutes: 20, quickSeconds: 60, load: () => import("./disk/suite.mjs") },
  store: { minutes: 7, quickSeconds: 30, load: () => import("./store/suite.mjs") },
  fleet: { minutes: 6, quickSeconds: 40, load: () => import("./fleet/suite.mjs") },
  start: { minutes: 4, quickSeconds: 15, load: () => import("./start/suite.mjs") },
  adapters: { minutes: 20, quickSeconds: 36, load: () => import("./adapters/suite.mjs") },
};

/** Returns how many seconds suites take together. @param {string[]} names @param {boolean} isQuick */
export function secondsOf(names, isQuick) {
  const seconds = names.map((name) => {
    const { minutes = 0, quickSeconds = 0 } = SUITES[name] ?? {};
    return isQuick ? quickSeconds : 60 * minutes;
  });
  return seconds.reduce((sum, one) => sum + one, 0);
}
