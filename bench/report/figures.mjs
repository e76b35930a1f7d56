// Figures of records. Those of a suite all come from its newest record, because compared figures must be of one run.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** @typedef {import("../harness/results.mjs").Result} Result */

/**
 * A record, with its file name.
 *
 * @typedef {object} Record
 * @property {string} file
 * @property {unknown} machine
 * @property {string} date
 * @property {{ [name: string]: unknown }} versions
 * @property {boolean} [quick] whether it was a smoke run, whose figures mean little
 * @property {Result[]} results
 */

/** The place of a figure in a record. @typedef {[suite: string, workload: string, method: string]} Key */

/**
 * @typedef {object} Figures
 * @property {(...key: Key) => Result | undefined} find
 * @property {(suite: string) => Record | undefined} record with the figures of a suite
 */

const RECORDS = inRoot("bench", "records");

/** Returns the suite of `npm run bench` that a result belongs to. @param {string} suite */
export const suiteOf = (suite) =>
  suite.startsWith("snapshot-restore") ? "restore" : (suite.split("-")[0] ?? suite);

/** Reads the named records, or all in bench/records except smoke runs. @param {string[]} files @returns {Record[]} */
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

/**
 * Returns a link from a document in `docs` to a record, or the name of a record that is elsewhere.
 *
 * @param {string} file
 */
export function linkTo(file) {
  const name = basename(file);
  const kept = relative(RECORDS, file) === name;
  return kept ? `[bench/records/${name}](../bench/records/${name})` : name;
}
