// Figures of records, and how documents write them. Those of a suite all come from its newest record, because only
// figures of one run can be compared.
import { readdirSync, readFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** @typedef {import("../harness/results.mjs").Result} Result */

/** @typedef {{ name: string, machine: string, date: string, quick?: boolean, results: Result[] }} Record */

/**
 * The results of one run, by workload and method.
 *
 * @typedef {object} Figures
 * @property {(suite: string) => Record | undefined} record
 * @property {(suite: string) => Result[]} all the results of a suite, as in its record
 * @property {(suite: string, workload: string, method: string) => Result | undefined} find
 */

/** Returns the suite of `npm run bench` that measures a suite of a record. @param {string} suite */
export const suiteOf = (suite) =>
  suite.startsWith("snapshot-restore") ? "restore" : (suite.split("-")[0] ?? suite);

/** Reads bench/records. Smoke runs are left out: their figures mean little. @returns {Record[]} */
export function readRecords() {
  const folder = inRoot("bench", "records");
  return readdirSync(folder)
    .map((name) => ({ ...JSON.parse(readFileSync(`${folder}/${name}`, "utf8")), name }))
    .filter(({ quick }) => quick !== true)
    .map((record) => ({ ...record, results: record.results.map(withMethod) }));
}

/** The rates of false positives name the method in the suite. @param {Result} result @returns {Result} */
function withMethod(result) {
  const [suite = "", method = ""] = result.suite.split(", ");
  if (suite !== "paths-false-positives") return result;
  return { ...result, suite, method: method === "promised" ? "hedgerow" : method };
}

/** @param {Record[]} records @returns {Figures} */
export function figuresOf(records) {
  /** @type {Map<string, Record>} */
  const newest = new Map();
  for (const record of records.toSorted((a, b) => a.date.localeCompare(b.date))) {
    for (const { suite } of record.results) newest.set(suiteOf(suite), record);
  }
  const record = (/** @type {string} */ suite) => newest.get(suiteOf(suite));
  const all = (/** @type {string} */ suite) =>
    record(suite)?.results.filter((one) => one.suite === suite) ?? [];
  return {
    record,
    all,
    find: (suite, workload, method) =>
      all(suite).find((one) => one.workload === workload && one.method === method),
  };
}

/** The next larger unit, of a thousand smaller ones. @type {{ [unit: string]: string }} */
const LARGER = { ns: "µs", µs: "ms", ms: "s", bytes: "kB", kB: "MB" };

/** @param {number} value */
const grouped = (value) => Math.round(value).toLocaleString("en");

/** Formats a number with three significant digits, or as an integer. @param {number} value */
export function figure(value) {
  if (value >= 1000) return grouped(value);
  if (value < 0.1) return `${Number(value.toPrecision(2))}`;
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/**
 * Formats a number with its unit or a larger one, without the "per" of the unit.
 *
 * @param {number} value
 * @param {string} unit
 * @returns {string}
 */
export function withUnit(value, unit) {
  if (unit === "×") return `${ratio(value)} ×`;
  const [name = ""] = unit.split("/");
  const larger = LARGER[name];
  if (larger !== undefined && value >= 1000) return withUnit(value / 1000, larger);
  return name === "" ? figure(value) : `${figure(value)} ${name}`;
}

/** Formats a ratio, near one with the digits that show on which side it is. @param {number} value */
export function ratio(value) {
  const apart = Math.abs(value - 1);
  if (value >= 99.5) return grouped(value);
  if (value < 0.01) return `${Number(value.toPrecision(2))}`;
  if (apart > 0 && apart < 0.01) return value.toFixed(apart < 0.0005 ? 5 : 3);
  return value.toFixed(value >= 10 ? 1 : 2);
}
