// A table of comparisons: a row for each method, a column for each comparison.
import { lacking, outcomes } from "./comparison.mjs";
import { figure, markdown, missing, ratio } from "./format.mjs";

/** @typedef {import("./comparison.mjs").Comparison} Comparison */
/** @typedef {import("./comparison.mjs").Outcome} Outcome */
/** @typedef {import("./figures.mjs").Figures} Figures */

/**
 * @param {Figures} figures
 * @param {string} what the heading of the first column: a unit, or what is measured
 * @param {Comparison[]} comparisons
 * @param {{ divide?: number }} [options] `divide` converts to a larger unit
 */
export function tableOf(figures, what, comparisons, { divide = 1 } = {}) {
  const columns = comparisons
    .map((comparison) => ({ comparison, found: outcomes(figures, comparison) }))
    .filter(({ found }) => found.length > 0);
  const lacks = lacking(figures, comparisons);
  const note = lacks.length === 0 ? "" : missing(lacks);
  if (columns.length === 0) return note;
  const labels = [
    ...new Set(comparisons.flatMap(({ methods }) => methods.map(({ label }) => label))),
  ];
  const rows = labels
    .map((label) => columns.map(({ found }) => found.find((one) => one.label === label)))
    .filter((cells) => cells.some((cell) => cell !== undefined))
    .map((cells) => [labelOf(cells), ...cells.map((cell) => cellOf(cell, divide))]);
  const table = markdown([what, ...columns.map(({ comparison }) => comparison.title)], rows);
  return note === "" ? table : `${table}\n${note}`;
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
  return `${value} (${ahead ? `**${ratio(times)}**` : ratio(times)})`;
}
