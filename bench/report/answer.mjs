// The sentence that opens a section of docs/benchmarks.md, with its figures from the records.
import { missing, ratio, withUnit } from "./format.mjs";

/** @typedef {import("../harness/results.mjs").Result} Result */
/** @typedef {import("./figures.mjs").Figures} Figures */
/** @typedef {import("./plain-table.mjs").Key} Key */

/**
 * Figures of records, as a sentence has them.
 *
 * @typedef {object} Values
 * @property {(...key: Key) => string} value a median with its unit
 * @property {(keys: Key[]) => string} range the smallest and the largest of several medians
 * @property {(ours: Key, other: Key) => string} times the other median over ours
 */

/** Writes the answer to a section's question. @typedef {(values: Values) => string} Answer */

/** @param {Figures} figures @param {Answer} write */
export function answerOf(figures, write) {
  /** @type {Set<string>} */
  const lacking = new Set();
  /** @param {Key} key @returns {Pick<Result, "median" | "unit">} */
  const find = (key) => {
    const result = figures.find(...key);
    if (result === undefined) lacking.add(key.join(" | "));
    return result ?? { median: Number.NaN, unit: "" };
  };
  const text = write({
    value: (...key) => {
      const { median, unit } = find(key);
      return withUnit(median, unit);
    },
    range: (keys) => {
      const found = keys.map(find).toSorted((a, b) => a.median - b.median);
      const [first = "", last = ""] = [found[0], found.at(-1)].map((one) =>
        withUnit(one?.median ?? Number.NaN, one?.unit ?? ""),
      );
      const [number = "", unit = ""] = first.split(" ");
      return `${last.endsWith(` ${unit}`) ? number : first} to ${last}`;
    },
    times: (ours, other) => ratio(find(other).median / find(ours).median),
  });
  return lacking.size === 0 ? `${text}\n` : missing([...lacking]);
}
