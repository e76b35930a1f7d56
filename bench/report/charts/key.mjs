// What lines of a chart are, above it: the longest ones do not end where there is room for a name.
import { ratio } from "../say.mjs";
import { TEXT, WIDTH } from "./theme.mjs";

/** @typedef {import("vega").Mark} Mark */
/** @typedef {import("./series.mjs").Line} Line */

const KEY_ROW = 19;

/** Names that are longer have a row of their own. */
const LONGEST_OF_TWO = 24;

const LEFT = -48;

/** @param {Line[]} lines @param {{ at: number }} last @param {Map<number, string>} titles of places */
export function keyOf(lines, last, titles) {
  const says = lines.map((line) => nameOf(line, last, titles));
  const columns = says.every(({ length }) => length <= LONGEST_OF_TWO) ? 2 : 1;
  const height = KEY_ROW * Math.ceil(lines.length / columns);
  const marks = lines.flatMap((line, index) => {
    const x = LEFT + (index % columns) * ((WIDTH - 28) / 2);
    const y = KEY_ROW * Math.floor(index / columns) - height - 18;
    return entry(line, says[index] ?? "", x, y);
  });
  return { marks, height };
}

/** A name, and how it compares where its line ends. @param {Line} line @param {{ at: number }} last @param {Map<number, string>} titles */
function nameOf({ says, kind, times, points }, last, titles) {
  if (kind === "ours" || Number.isNaN(times)) return says;
  const end = points.at(-1)?.at ?? last.at;
  const where = end === last.at ? "" : ` at ${titles.get(end)}`;
  return `${says} (${ratio(times)}${where})`;
}

/** @param {Line} line @param {string} says @param {number} x @param {number} y @returns {Mark[]} */
function entry({ kind, colour, shape, dash }, says, x, y) {
  const row = { y: { value: y } };
  const stroke = { stroke: { value: colour }, strokeWidth: { value: kind === "ours" ? 3 : 1.75 } };
  return [
    {
      type: "rule",
      encode: {
        enter: {
          ...row,
          ...stroke,
          x: { value: x },
          x2: { value: x + 26 },
          strokeDash: { value: dash },
        },
      },
    },
    {
      type: "symbol",
      encode: {
        enter: {
          ...{ ...row, x: { value: x + 13 }, shape: { value: shape } },
          ...{ size: { value: kind === "ours" ? 70 : 48 }, fill: { value: colour } },
        },
      },
    },
    {
      type: "text",
      encode: {
        enter: {
          ...{ ...row, x: { value: x + 33 }, text: { value: says }, baseline: { value: "middle" } },
          ...{ fontSize: { value: TEXT.other } },
          fontWeight: { value: kind === "ours" ? "bold" : "normal" },
        },
      },
    },
  ];
}
