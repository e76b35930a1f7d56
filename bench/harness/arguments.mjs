// The arguments of `npm run bench`.
import { StepError } from "../../scripts/lib/run.mjs";
import { SUITES } from "../suites/index.mjs";

const EXPECTED = `expected
  npm run bench -- [SUITE ...] [--quick] [--json FILE]
  npm run bench -- report [FILE ...]
with suites out of ${Object.keys(SUITES).join(", ")}; default: all`;

/** The suites to run, and the file for the record. @typedef {{ suites: string[], isQuick: boolean, json: string | undefined }} Run */

/** @typedef {{ report: string[] } | Run} Task */

/** @param {string[]} args @returns {Task} */
export function parse(args) {
  if (args[0] === "report") return { report: files(args.slice(1)) };
  /** @type {Set<string>} */
  const suites = new Set();
  let isQuick = false;
  let json;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--quick") {
      isQuick = true;
    } else if (arg === "--json") {
      index += 1;
      [json] = files(args.slice(index, index + 1));
      if (json === undefined) throw new StepError(`--json has no file: ${EXPECTED}`);
    } else if (Object.hasOwn(SUITES, arg)) {
      suites.add(arg);
    } else {
      throw new StepError(`found ${arg}: ${EXPECTED}`);
    }
  }
  const chosen = Object.keys(SUITES).filter((name) => suites.size === 0 || suites.has(name));
  return { suites: chosen, isQuick, json };
}

/** @param {string[]} args */
function files(args) {
  const option = args.find((arg) => arg.startsWith("-"));
  if (option !== undefined) throw new StepError(`found ${option}: ${EXPECTED}`);
  return args;
}
