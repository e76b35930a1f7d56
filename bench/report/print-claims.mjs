// Compares a benchmark run with the claims.
import { StepError } from "../../scripts/lib/run.mjs";
import { CLAIMS, outcomeOf } from "./claims.mjs";
import { figuresOf, readRecords, suiteOf } from "./figures.mjs";
import { plain, ratio, withUnit } from "./format.mjs";

/** @typedef {import("../harness/results.mjs").Result} Result */
/** @typedef {import("./figures.mjs").Figures["find"]} Find */

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

/** @param {import("./claims.mjs").Claim} claim @param {Find} recorded @param {Find} measured */
function lineOf(claim, recorded, measured) {
  const [before, now] = [recorded, measured].map((find) => figuresFor(claim, find));
  return (before ?? [])
    .map(({ label, figure }, index) => `${label}${figure} → ${now?.[index]?.figure}`)
    .join("; ");
}

/**
 * Our figure and the ratio of each alternative, or "none".
 *
 * @param {import("./claims.mjs").Claim} claim
 * @param {Find} find
 */
function figuresFor(claim, find) {
  const { own, alternatives } = outcomeOf(claim, find);
  return [
    { label: "", figure: own === undefined ? "none" : withUnit(own.median, own.unit) },
    ...alternatives.map(({ label, times }) => ({
      label: `${plain(label)} `,
      figure: Number.isNaN(times) ? "none" : ratio(times),
    })),
  ];
}
