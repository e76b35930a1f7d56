// The table of comparisons: a row for each method, a column for each comparison.
import { lacking, outcomes } from "./comparison.mjs";
import { figure, markdown, missing, ratio, spread } from "./say.mjs";

/** @typedef {import("./comparison.mjs").Comparison} Comparison */
/** @typedef {import("./comparison.mjs").Outcome} Outcome */
/** @typedef {import("./figures.mjs").Figures} Figures */

/**
 * @param {Figures} figures
 * @param {string} what stands above the methods: a unit, or what they do
 * @param {Comparison[]} comparisons
 * @param {{ spreads?: boolean, divide?: number }} [options] whether the least and the most are in it; a larger unit
 */
export function tableOf(figures, what, comparisons, { spreads = false, divide = 1 } = {}) {
  const columns = comparisons
    .map((comparison) => ({ comparison, found: outcomes(figures, comparison) }))
    .filter(({ found }) => found.length > 0);
  const lacks = lacking(figures, comparisons);
  const note = lacks.length === 0 ? "" : missing(lacks);
  if (columns.length === 0) return note;
  const names = [...new Set(comparisons.flatMap(({ methods }) => methods.map(({ says }) => says)))];
  const rows = names
    .map((name) => columns.map(({ found }) => found.find(({ says }) => says === name)))
    .filter((cells) => cells.some((cell) => cell !== undefined))
    .map((cells) => [nameOf(cells), ...cells.map((cell) => cellOf(cell, spreads, divide))]);
  const table = markdown([what, ...columns.map(({ comparison }) => comparison.title)], rows);
  return note === "" ? table : `${table}\n${note}`;
}

/** @param {(Outcome | undefined)[]} cells */
function nameOf(cells) {
  const { says = "", kind } = cells.find((cell) => cell !== undefined) ?? {};
  return kind === "ours" ? `**${says}**` : says;
}

/** @param {Outcome | undefined} outcome @param {boolean} spreads @param {number} divide */
function cellOf(outcome, spreads, divide) {
  if (outcome === undefined) return "";
  const { result, kind, times, ahead } = outcome;
  const value = spreads ? spread(result) : figure(result.median / divide);
  if (kind === "ours") return value;
  return spreads ? value : `${value} (${ahead ? `**${ratio(times)}**` : ratio(times)})`;
}
