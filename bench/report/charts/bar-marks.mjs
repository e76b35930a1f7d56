// The marks of a row of a chart: a bar or a dot, the spread, the label and the figure.
import { COLOUR, TEXT } from "./render.mjs";

/** @typedef {import("../comparison.mjs").Outcome} Outcome */
/** @typedef {import("vega").Mark} Mark */

/** A method, its place, and the text at the end of its bar. @typedef {{ y: number, label: string, value: number, min: number, max: number, kind: Outcome["kind"], figure: string, ahead: boolean }} Row */

/** The height of a bar, in pixels. */
const BAR = 12;

/** @param {Row[]} rows @returns {Mark[]} */
export function rectangles(rows) {
  return rows.flatMap((row) => [
    {
      type: "rect",
      encode: {
        enter: {
          x: { value: 0 },
          x2: { scale: "x", value: row.value },
          y: { value: row.y - BAR / 2 },
          height: { value: BAR },
          cornerRadiusTopRight: { value: 2 },
          cornerRadiusBottomRight: { value: 2 },
          fill: { value: COLOUR[row.kind] },
        },
      },
    },
    spreadOf(row),
  ]);
}

/** @param {Row[]} rows @returns {Mark[]} */
export function dots(rows) {
  return rows.flatMap((row) => [
    spreadOf(row),
    {
      type: "symbol",
      encode: {
        enter: {
          x: { scale: "x", value: row.value },
          y: { value: row.y },
          size: { value: row.kind === "ours" ? 110 : 70 },
          shape: { value: row.kind === "rival" ? "square" : "circle" },
          fill: { value: COLOUR[row.kind] },
        },
      },
    },
  ]);
}

/** @param {Row} row @returns {Mark} */
function spreadOf({ y, min, max }) {
  return {
    type: "rule",
    encode: {
      enter: {
        x: { scale: "x", value: min },
        x2: { scale: "x", value: max },
        y: { value: y },
        stroke: { value: COLOUR.spread },
        strokeWidth: { value: 1.25 },
      },
    },
  };
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
