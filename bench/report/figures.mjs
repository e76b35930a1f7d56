// What records say: for each suite the newest record that has it, and no others, so that figures that are
// compared come from one run.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** @typedef {import("../harness/results.mjs").Result} Result */

/**
 * The content of a record, and its file name.
 *
 * @typedef {object} Record
 * @property {string} file
 * @property {unknown} machine
 * @property {string} date
 * @property {{ [name: string]: unknown }} versions
 * @property {boolean} [quick] whether it was a smoke run, whose figures tell little
 * @property {Result[]} results
 */

/** The place of a figure in a record. @typedef {[suite: string, workload: string, method: string]} Key */

/**
 * @typedef {object} Figures
 * @property {(...key: Key) => Result | undefined} find
 * @property {(suite: string) => Record | undefined} record where a suite's figures come from
 */

const RECORDS = inRoot("bench", "records");

/** What names of results begin with, where it is not the name of their suite. */
const BEGINNINGS = /** @type {const} */ ([["snapshot-restore", "restore"]]);

/** The suite of `npm run bench` that a result is of. @param {string} suite */
export function suiteOf(suite) {
  const other = BEGINNINGS.find(([beginning]) => suite.startsWith(beginning));
  return other?.[1] ?? suite.split("-")[0] ?? suite;
}

/** Reads records: those that are named, or all that are kept and were no smoke runs. @param {string[]} files @returns {Record[]} */
export function readRecords(files) {
  if (files.length > 0) return files.map(readRecord);
  const kept = readdirSync(RECORDS).filter((name) => name.endsWith(".json"));
  return kept.map((name) => readRecord(join(RECORDS, name))).filter(({ quick }) => quick !== true);
}

/** @param {string} file @returns {Record} */
function readRecord(file) {
  return { ...JSON.parse(readFileSync(file, "utf8")), file };
}

/** @param {Record[]} records @returns {Figures} */
export function figuresOf(records) {
  /** @type {Map<string, Record>} */
  const newest = new Map();
  for (const record of records.toSorted((a, b) => a.date.localeCompare(b.date))) {
    for (const { suite } of record.results) newest.set(suiteOf(suite), record);
  }
  const record = (/** @type {string} */ suite) => newest.get(suiteOf(suite));
  return {
    record,
    find: (suite, workload, method) =>
      record(suite)?.results.find(
        (one) => one.suite === suite && one.workload === workload && one.method === method,
      ),
  };
}

/** A link from a document in `docs` to a record, or the name of one that is elsewhere. @param {string} file */
export function linkTo(file) {
  const name = basename(file);
  const kept = relative(RECORDS, file) === name;
  return kept ? `[bench/records/${name}](../bench/records/${name})` : name;
}
