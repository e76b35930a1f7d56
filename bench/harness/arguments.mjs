// The arguments of `npm run bench`.
import { parseArgs } from "node:util";

import { StepError } from "../../scripts/lib/run.mjs";
import { SUITES } from "../suites/index.mjs";

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
