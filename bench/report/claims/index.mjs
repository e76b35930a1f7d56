// The figures that every benchmark run is compared with, as data. README's table is taken from them.
import { StepError } from "../../../scripts/lib/run.mjs";
import { figuresOf, readRecords, suiteOf } from "../figures.mjs";
import { plain, ratio, withUnit } from "../format.mjs";
import { CACHE } from "./cache.mjs";
import { outcomeOf } from "./claim.mjs";
import { HEADERS } from "./headers.mjs";
import { PATHS } from "./paths.mjs";
import { SNAPSHOTS } from "./snapshots.mjs";

/** @typedef {import("../../harness/results.mjs").Result} Result */
/** @typedef {import("./claim.mjs").Claim} Claim */
/** @typedef {import("./claim.mjs").Find} Find */

/** @type {Claim[]} */
export const CLAIMS = [...HEADERS, ...PATHS, ...SNAPSHOTS, ...CACHE];

/**
 * Prints each claim of the suites that ran: the recorded figure, and the one just measured.
 *
 * @param {Result[]} results
 * @param {string[]} suites
 * @throws {StepError} if the run has no result for a claim
 */
export function printClaims(results, suites) {
  const { find: recorded } = figuresOf(readRecords([]));
  /** @type {Find} */
  const measured = (suite, workload, method) =>
    results.find(
      (one) => one.suite === suite && one.workload === workload && one.method === method,
    );
  const claims = CLAIMS.filter(({ key }) => suites.includes(suiteOf(key[0])));
  console.log("\nclaims: recorded → this run");
  for (const claim of claims) {
    console.log(`  ${plain(claim.label)}: ${lineOf(claim, recorded, measured)}`);
  }
  const missing = claims.flatMap((claim) => outcomeOf(claim, measured).missing);
  if (missing.length > 0) {
    throw new StepError(`this run has no result for these claims:\n  ${missing.join("\n  ")}`);
  }
}

/** @param {Claim} claim @param {Find} recorded @param {Find} measured */
function lineOf(claim, recorded, measured) {
  const [before, now] = [outcomeOf(claim, recorded), outcomeOf(claim, measured)];
  const alternatives = now.alternatives.map(
    ({ label, times }, index) =>
      `${plain(label)} ${ratioOrNone(before.alternatives[index]?.times)} → ${ratioOrNone(times)}`,
  );
  return [`${figureOrNone(before.own)} → ${figureOrNone(now.own)}`, ...alternatives].join("; ");
}

/** @param {Result | undefined} result */
const figureOrNone = (result) =>
  result === undefined ? "none" : withUnit(result.median, result.unit);

/** @param {number | undefined} times */
const ratioOrNone = (times) => (times === undefined || Number.isNaN(times) ? "none" : ratio(times));
