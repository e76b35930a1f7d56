// What is drawn in a row of a chart of methods: a bar or a dot, the spread, the name and the ratio.
import { COLOUR, TEXT } from "./theme.mjs";

/** @typedef {import("../comparison.mjs").Outcome} Outcome */
/** @typedef {import("vega").Mark} Mark */

/** A method, where it stands, and what is said beside it. @typedef {{ y: number, says: string, value: number, min: number, max: number, kind: Outcome["kind"], said: string, ahead: boolean }} Row */

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

/** @param {Row[]} rows @param {{ y: number, says: string }[]} heads @param {number} labels @returns {Mark[]} */
export function texts(rows, heads, labels) {
  const middle = { baseline: { value: "middle" }, fontSize: { value: TEXT.other } };
  const bold = { fontWeight: { value: "bold" } };
  return [
    ...heads.map(({ y, says }) => ({
      ...{ x: { value: 14 - labels }, y: { value: y }, text: { value: says }, ...middle, ...bold },
    })),
    ...rows.map(({ y, says, kind }) => ({
      ...{ x: { value: -8 }, y: { value: y }, text: { value: says }, align: { value: "right" } },
      ...{ ...middle, ...(kind === "ours" ? bold : {}) },
    })),
    ...rows.map(({ y, value, max, said, kind, ahead }) => ({
      ...{ x: { scale: "x", value: Math.max(value, max), offset: 8 }, y: { value: y } },
      ...{ text: { value: said }, ...middle, ...(kind === "ours" || ahead ? bold : {}) },
      fill: { value: ahead ? COLOUR.ahead : COLOUR.text },
    })),
  ].map((enter) => /** @type {Mark} */ ({ type: "text", encode: { enter } }));
}
