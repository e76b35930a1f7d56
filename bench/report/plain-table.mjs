// A table of figures without a comparison.
import { figure, markdown, missing } from "./format.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */

/** The place of a figure in a record. @typedef {[suite: string, workload: string, method: string]} Key */

/** @typedef {{ label: string, keys: (Key | undefined)[], divide?: number }} Row */

/**
 * @param {Figures} figures
 * @param {string[]} head
 * @param {Row[]} rows
 */
export function plainTable(figures, head, rows) {
  const found = rows.map(({ label, keys, divide = 1 }) => ({
    label,
    cells: keys.map((key) => {
      const result = key && figures.find(...key);
      if (result === undefined) return "";
      if (result.unit === "") return result.median.toLocaleString("en");
      return figure(result.median / divide);
    }),
  }));
  const there = found.filter(({ cells }) => cells.some((cell) => cell !== ""));
  const lacks = found.filter((row) => !there.includes(row)).map(({ label }) => label);
  const note = lacks.length === 0 ? "" : missing(lacks);
  if (there.length === 0) return note;
  const table = markdown(
    head,
    there.map(({ label, cells }) => [label, ...cells]),
  );
  return note === "" ? table : `${table}\n${note}`;
}
