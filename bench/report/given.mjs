// A table of figures that are compared with nothing: what things take.
import { figure, markdown, missing, spread } from "./say.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */

/** Where a figure is in a record. @typedef {[suite: string, workload: string, method: string]} Key */

/** @typedef {{ says: string, keys: (Key | undefined)[], divide?: number }} Row */

/**
 * @param {Figures} figures
 * @param {string[]} head
 * @param {Row[]} rows
 * @param {{ spreads?: boolean }} [options]
 */
export function given(figures, head, rows, { spreads = false } = {}) {
  const found = rows.map(({ says, keys, divide = 1 }) => ({
    says,
    cells: keys.map((key) => {
      const result = key && figures.find(...key);
      if (result === undefined) return "";
      if (result.unit === "") return result.median.toLocaleString("en");
      return spreads ? spread(result) : figure(result.median / divide);
    }),
  }));
  const there = found.filter(({ cells }) => cells.some((cell) => cell !== ""));
  const lacks = found.filter((row) => !there.includes(row)).map(({ says }) => says);
  const note = lacks.length === 0 ? "" : missing(lacks);
  if (there.length === 0) return note;
  const table = markdown(
    head,
    there.map(({ says, cells }) => [says, ...cells]),
  );
  return note === "" ? table : `${table}\n${note}`;
}
