// The tables of a section: comparisons, with a ratio in each cell, or figures alone.
import { lacking, outcomes } from "./comparison.mjs";
import { bareRatio, figure, grouped, markdown } from "./format.mjs";

/** @typedef {import("./comparison.mjs").Comparison} Comparison */
/** @typedef {import("./comparison.mjs").Outcome} Outcome */
/** @typedef {import("./figures.mjs").Figures} Figures */

/**
 * A row for each method, a column for each comparison. `what` heads the first column with the unit or the
 * subject of the measurement; `divide` converts figures to a larger unit.
 *
 * @typedef {{ what: string, comparisons: Comparison[], divide?: number }} ComparisonTable
 */

/** @typedef {{ label: string, keys: import("./figures.mjs").Key[], divide?: number }} Row */
/** @typedef {{ head: string[], rows: Row[] }} FigureTable */

/** @param {Figures} figures @param {ComparisonTable | FigureTable} table */
export const tableOf = (figures, table) =>
  "rows" in table ? figureTable(figures, table) : comparisonTable(figures, table);

/** @param {Figures} figures @param {FigureTable} table */
function figureTable(figures, { head, rows }) {
  const found = rows.map(({ label, keys, divide = 1 }) => {
    const cells = keys.map((key) => {
      const result = figures.find(...key);
      if (result === undefined) return "";
      return result.unit === "" ? grouped(result.median) : figure(result.median / divide);
    });
    return { label, cells, isEmpty: cells.every((cell) => cell === "") };
  });
  const present = found.filter(({ isEmpty }) => !isEmpty);
  const absent = found.filter(({ isEmpty }) => isEmpty);
  return markdown(
    head,
    present.map(({ label, cells }) => [label, ...cells]),
    absent.map(({ label }) => label),
  );
}

/** @param {Figures} figures @param {ComparisonTable} table */
function comparisonTable(figures, { what, comparisons, divide = 1 }) {
  const columns = comparisons
    .map(({ title, ...rest }) => ({ title, found: outcomes(figures, { title, ...rest }) }))
    .filter(({ found }) => found.length > 0);
  const methods = comparisons.flatMap((comparison) => comparison.methods);
  const rows = [...new Set(methods.map(({ label }) => label))]
    .map((label) => columns.map(({ found }) => found.find((one) => one.label === label)))
    .filter((cells) => cells.some((cell) => cell !== undefined))
    .map((cells) => [labelOf(cells), ...cells.map((cell) => cellOf(cell, divide))]);
  const head = [`${what} (ratio)`, ...columns.map(({ title }) => title)];
  return markdown(head, rows, lacking(figures, comparisons));
}

/** @param {(Outcome | undefined)[]} cells */
function labelOf(cells) {
  const { label = "", kind } = cells.find((cell) => cell !== undefined) ?? {};
  return kind === "ours" ? `**${label}**` : label;
}

/** @param {Outcome | undefined} outcome @param {number} divide */
function cellOf(outcome, divide) {
  if (outcome === undefined) return "";
  const { result, kind, times, ahead } = outcome;
  const value = figure(result.median / divide);
  if (kind === "ours") return value;
  return `${value} (${ahead ? `**${bareRatio(times)}**` : bareRatio(times)})`;
}
