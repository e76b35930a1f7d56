// The figures that the README claims: its tables are generated from them, and each run is compared with them.
import { StepError } from "../../../scripts/lib/run.mjs";
import { figuresOf, readRecords, suiteOf } from "../figures.mjs";
import { plain, ratio, withUnit } from "../format.mjs";
import { CACHE } from "./cache.mjs";
import { outcomeOf } from "./claim.mjs";
import { HEADERS } from "./headers.mjs";
import { IN_TEXT } from "./in-text.mjs";
import { PATHS } from "./paths.mjs";
import { SNAPSHOTS } from "./snapshots.mjs";

/** @typedef {import("../../harness/results.mjs").Result} Result */
/** @typedef {import("./claim.mjs").Claim} Claim */
/** @typedef {import("./claim.mjs").Find} Find */

/** The claims of each table of the README. @type {Record<string, Claim[]>} */
export const TABLES = { headers: HEADERS, paths: PATHS, snapshots: SNAPSHOTS, cache: CACHE };

/** All claims of the tables and of the text, each once. @type {Claim[]} */
export const CLAIMS = distinct([
  ...Object.values(TABLES).flat(),
  ...Object.values(IN_TEXT).flatMap(({ claims }) => claims),
]);

/** @param {Claim[]} claims */
function distinct(claims) {
  const first = new Map(claims.toReversed().map((claim) => [claim.key.join(), claim]));
  return claims.filter((claim) => first.get(claim.key.join()) === claim);
}

/**
 * Prints the recorded and the measured figure of each claim of the suites that ran. Throws if the run lacks one.
 *
 * @param {Result[]} results
 * @param {string[]} suites
 */
export function printClaims(results, suites) {
  const { find: recorded } = figuresOf(readRecords([]));
  /** @type {Find} */
  const measured = (suite, workload, method) =>
    results.find(
      (one) => one.suite === suite && one.workload === workload && one.method === method,
    );
  const claims = CLAIMS.filter(({ key }) => suites.includes(suiteOf(key[0])));
  console.log("\nclaims of the README: recorded → this run");
  for (const claim of claims) {
    console.log(`  ${plain(claim.says)}: ${lineOf(claim, recorded, measured)}`);
  }
  const lacking = claims.flatMap((claim) => outcomeOf(claim, measured).lacking);
  if (lacking.length > 0) {
    throw new StepError(
      `this run has no result for claims of the README:\n  ${lacking.join("\n  ")}`,
    );
  }
}

/** @param {Claim} claim @param {Find} recorded @param {Find} measured */
function lineOf(claim, recorded, measured) {
  const [before, now] = [outcomeOf(claim, recorded), outcomeOf(claim, measured)];
  const rivals = now.rivals.map(
    ({ says, times }, index) =>
      `${plain(says)} ${ratioText(before.rivals[index]?.times)} → ${ratioText(times)}`,
  );
  return [`${sizeText(before.own)} → ${sizeText(now.own)}`, ...rivals].join("; ");
}

/** @param {Result | undefined} result */
const sizeText = (result) => (result === undefined ? "none" : withUnit(result.median, result.unit));

/** @param {number | undefined} times */
const ratioText = (times) => (times === undefined || Number.isNaN(times) ? "none" : ratio(times));
