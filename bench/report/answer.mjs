// The sentence that opens a section of docs/benchmarks.md, with figures from the records.
import { missing, ratio, withUnit } from "./format.mjs";

/** @typedef {import("../harness/results.mjs").Result} Result */
/** @typedef {import("./figures.mjs").Figures} Figures */
/** @typedef {import("./figures.mjs").Key} Key */

/**
 * Medians of records, formatted for a sentence.
 *
 * @typedef {object} Values
 * @property {(suite: string, workload: string, ours?: string) => At} at the methods of a workload. Default of `ours`: `"hedgerow"`
 * @property {(keys: Key[]) => string} range the smallest and the largest of several medians
 */

/**
 * Our figure, and the ratio of another method to it.
 *
 * @typedef {{ ours: string, times: (method: string, suite?: string) => string }} At
 */

/** Writes the sentence, whose line breaks become spaces. @typedef {(values: Values) => string} Answer */

/** @param {Figures} figures @param {Answer} write */
export function answerOf(figures, write) {
  /** @type {Set<string>} */
  const lacking = new Set();
  /** @param {Key} key @returns {Pick<Result, "median" | "unit">} */
  const find = (...key) => {
    const result = figures.find(...key);
    if (result === undefined) lacking.add(key.join(" | "));
    return result ?? { median: Number.NaN, unit: "" };
  };
  const text = write({
    at: (suite, workload, ours = "hedgerow") => {
      const { median, unit } = find(suite, workload, ours);
      return {
        ours: withUnit(median, unit),
        times: (method, other = suite) => ratio(find(other, workload, method).median / median),
      };
    },
    range: (keys) => {
      const found = keys.map((key) => find(...key)).toSorted((a, b) => a.median - b.median);
      const [first = "", last = ""] = [found[0], found.at(-1)].map((one) =>
        withUnit(one?.median ?? Number.NaN, one?.unit ?? ""),
      );
      const [number = "", unit = ""] = first.split(" ");
      return `${last.endsWith(` ${unit}`) ? number : first} to ${last}`;
    },
  });
  return lacking.size === 0 ? `${text.replaceAll(/\s+/g, " ")}\n` : missing([...lacking]);
}
