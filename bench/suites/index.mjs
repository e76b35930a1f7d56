// The suites of benchmarks, how long each takes on two idle cores, and the arguments of `npm run bench`.
import { parseArgs } from "node:util";

import { StepError } from "../../scripts/lib/run.mjs";

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
  image: { minutes: 5, quickSeconds: 30, load: () => import("./image/suite.mjs") },
  restore: { minutes: 30, quickSeconds: 50, load: () => import("./restore/suite.mjs") },
  cache: { minutes: 8, quickSeconds: 30, load: () => import("./cache/suite.mjs") },
  delta: { minutes: 10, quickSeconds: 40, load: () => import("./delta/suite.mjs") },
  disk: { minutes: 33, quickSeconds: 60, load: () => import("./disk/suite.mjs") },
  store: { minutes: 7, quickSeconds: 30, load: () => import("./store/suite.mjs") },
  running: { minutes: 7, quickSeconds: 120, load: () => import("./running/suite.mjs") },
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

const EXPECTED = `expected
  npm run bench -- [SUITE ...] [--quick] [--json FILE]
  npm run bench -- report
with suites out of ${Object.keys(SUITES).join(", ")}; default: all`;

/**
 * The suites to run, and the file for the record.
 *
 * @typedef {{ suites: string[], isQuick: boolean, json: string | undefined }} Run
 */

const OPTIONS = /** @type {const} */ ({ quick: { type: "boolean" }, json: { type: "string" } });

/** @param {string[]} args @returns {"report" | Run} */
export function parse(args) {
  try {
    if (args[0] === "report" && args.length === 1) return "report";
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const unknown = positionals.find((name) => !Object.hasOwn(SUITES, name));
    if (unknown !== undefined) throw new Error(`found ${unknown}`);
    const suites = Object.keys(SUITES).filter(
      (name) => positionals.length === 0 || positionals.includes(name),
    );
    return { suites, isQuick: values.quick ?? false, json: values.json };
  } catch (error) {
    throw new StepError(`${/** @type {Error} */ (error).message}: ${EXPECTED}`);
  }
}
