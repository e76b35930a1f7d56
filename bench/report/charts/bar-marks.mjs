// The marks of a row of a chart: a bar or a dot, the spread, the label and the figure.
import { COLOUR, TEXT } from "./render.mjs";

/** @typedef {import("../comparison.mjs").Outcome} Outcome */
/** @typedef {import("vega").Mark} Mark */

/**
 * A method, its place, and the text at the end of its bar.
 *
 * @typedef {{ y: number, label: string, value: number, min: number, max: number, kind: Outcome["kind"], figure: string, ahead: boolean }} Row
 */

/** The height of a bar, in pixels. */
const BAR = 12;

/**
 * Returns a bar for each row, or a dot on a logarithmic axis, with its spread.
 *
 * @param {Row[]} rows
 * @param {boolean} log
 * @returns {Mark[]}
 */
export const pointsOf = (rows, log) =>
  rows.flatMap((row) => (log ? [spreadOf(row), dotOf(row)] : [barOf(row), spreadOf(row)]));

/** @param {Row} row @returns {Mark} */
function barOf({ y, value, kind }) {
  const enter = {
    ...{ x: { value: 0 }, x2: { scale: "x", value }, y: { value: y - BAR / 2 } },
    height: { value: BAR },
    cornerRadiusTopRight: { value: 2 },
    cornerRadiusBottomRight: { value: 2 },
    fill: { value: COLOUR[kind] },
  };
  return { type: "rect", encode: { enter } };
}

/** @param {Row} row @returns {Mark} */
function dotOf({ y, value, kind }) {
  const enter = {
    ...{ x: { scale: "x", value }, y: { value: y } },
    size: { value: kind === "ours" ? 110 : 70 },
    shape: { value: kind === "rival" ? "square" : "circle" },
    fill: { value: COLOUR[kind] },
  };
  return { type: "symbol", encode: { enter } };
}

/** @param {Row} row @returns {Mark} */
function spreadOf({ y, min, max }) {
  const enter = {
    ...{ x: { scale: "x", value: min }, x2: { scale: "x", value: max }, y: { value: y } },
    ...{ stroke: { value: COLOUR.spread }, strokeWidth: { value: 1.25 } },
  };
  return { type: "rule", encode: { enter } };
}

/** @param {Row[]} rows @param {{ y: number, label: string }[]} heads @param {number} labels @returns {Mark[]} */
export function texts(rows, heads, labels) {
  const middle = { baseline: { value: "middle" }, fontSize: { value: TEXT.other } };
  const bold = { fontWeight: { value: "bold" } };
  return [
    ...heads.map(({ y, label }) => ({
      ...{ x: { value: 14 - labels }, y: { value: y }, text: { value: label }, ...middle, ...bold },
    })),
    ...rows.map(({ y, label, kind }) => ({
      ...{ x: { value: -8 }, y: { value: y }, text: { value: label }, align: { value: "right" } },
      ...{ ...middle, ...(kind === "ours" ? bold : {}) },
    })),
    ...rows.map(({ y, value, max, figure, kind, ahead }) => ({
      ...{ x: { scale: "x", value: Math.max(value, max), offset: 8 }, y: { value: y } },
      ...{ text: { value: figure }, ...middle, ...(kind === "ours" || ahead ? bold : {}) },
      fill: { value: ahead ? COLOUR.ahead : COLOUR.text },
    })),
  ].map((enter) => /** @type {Mark} */ ({ type: "text", encode: { enter } }));
}
