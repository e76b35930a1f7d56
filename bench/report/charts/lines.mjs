// A chart of growth: a line for each method against a number, with spreads, and how they compare at the end.
import { FORMAT, linear, logarithmic } from "./axes.mjs";
import { keyOf } from "./key.mjs";
import { render, widthWithin } from "./render.mjs";
import { besideOf, linesOf, styled } from "./series.mjs";
import { COLOUR } from "./theme.mjs";

/** @typedef {import("./series.mjs").Place} Place */
/** @typedef {import("../figures.mjs").Figures} Figures */
/** @typedef {import("vega").Mark} Mark */

/**
 * @typedef {object} LineChart
 * @property {string} title
 * @property {string[]} [lines] below the title
 * @property {[across: string, up: string]} axes what is measured, and in which units
 * @property {Place[]} points in their order, and where they stand across
 * @property {boolean} [logAcross]
 * @property {boolean} [log]
 * @property {number} [divide] by how much figures are divided, for a larger unit
 * @property {{ says: string, value: number }[]} [beside] a line across for what does not depend on the number
 */

/** @typedef {import("./series.mjs").Line} Line */
/** @typedef {import("./series.mjs").Point} Point */

const HEIGHT = 230;

/**
 * @param {Figures} figures
 * @param {LineChart} chart
 * @returns {Promise<import("../made.mjs").Chart | undefined>} nothing where no rival is in the record
 */
export async function lines(figures, chart) {
  const { title, axes, points, logAcross = true, log = true, divide = 1, beside = [] } = chart;
  const all = [...linesOf(figures, points, divide), ...besideOf(beside, points, divide)];
  const drawn = styled(all.map((line) => (log ? positive(line) : line)));
  const rivals = drawn.filter(({ kind }) => kind === "rival").map(({ says }) => says);
  if (rivals.length === 0 || !drawn.some(({ kind }) => kind === "ours")) return undefined;
  const shown = points.filter(({ at }) =>
    drawn.some((line) => line.points.some((one) => one.at === at)),
  );
  const last = /** @type {Place} */ (shown.at(-1));
  const key = keyOf(drawn, last, titlesOf(points));
  const up = rangeUp(drawn, log);
  const padding = { left: 62, right: 34, top: key.height + 26, bottom: 42 };
  const width = widthWithin(padding);
  const svg = await render({
    title,
    lines: [
      ...(chart.lines ?? []),
      `× is times Hedgerow’s at ${last.title}; lines: least to most.`,
    ],
    description: `${title}. Beside Hedgerow: ${rivals.join(", ")}.`,
    padding,
    height: HEIGHT,
    scales: [
      {
        ...{ name: "x", type: logAcross ? "log" : "linear", range: [0, width] },
        domain: logAcross ? [(shown[0]?.at ?? 1) / 1.2, last.at * 1.2] : [0, last.at * 1.05],
      },
      { name: "y", type: log ? "log" : "linear", domain: up.domain, range: [HEIGHT, 0] },
    ],
    axes: [
      {
        ...{ scale: "x", orient: "bottom", grid: false, values: shown.map(({ at }) => at) },
        ...{ title: axes[0], titleY: 22, encode: { labels: { update: { text: titled(shown) } } } },
      },
      { scale: "y", orient: "left", grid: true, values: up.values, format: FORMAT },
    ],
    marks: [
      ...drawn.toReversed().flatMap(marksOf),
      ...key.marks,
      titleUp(log ? `${axes[1]} (logarithmic)` : axes[1]),
    ],
  });
  return { svg, rivals };
}

/** A logarithm has no place for zero. @param {import("./series.mjs").Series} line */
function positive(line) {
  const points = line.points.filter(({ value, min }) => value > 0 && min > 0);
  return { ...line, points };
}

/** @param {Line[]} drawn @param {boolean} log */
function rangeUp(drawn, log) {
  const all = drawn.flatMap(({ points }) =>
    points.flatMap(({ value, min, max }) => [value, min, max]),
  );
  return log ? logarithmic(all, HEIGHT, 24) : linear(Math.max(...all), 5);
}

/** What stands at places across. @param {Place[]} places */
const titlesOf = (places) => new Map(places.map(({ at, title }) => [at, title]));

/** The same, for an axis. @param {Place[]} places */
const titled = (places) => ({
  signal: `${JSON.stringify(Object.fromEntries(titlesOf(places)))}[datum.value]`,
});

/** The title of what goes up, above it, where it can be read. @param {string} text @returns {Mark} */
function titleUp(text) {
  const place = { x: { value: -48 }, y: { value: -10 } };
  const look = { fill: { value: COLOUR.quiet }, text: { value: text } };
  return { type: "text", encode: { enter: { ...place, ...look } } };
}

/** @param {Line} line @returns {Mark[]} */
function marksOf({ points, kind, colour, shape, dash }) {
  const at = (/** @type {Point} */ { at, value }) => ({
    x: { scale: "x", value: at },
    y: { scale: "y", value },
  });
  const width = kind === "ours" ? 3 : 1.75;
  /** @type {Mark[]} */
  const strokes = points.slice(1).map((to, index) => {
    const from = at(points[index] ?? to);
    const end = at(to);
    const ends = { ...from, x2: end.x, y2: end.y, stroke: { value: colour } };
    const look = { strokeWidth: { value: width }, strokeDash: { value: dash } };
    return { type: "rule", encode: { enter: { ...ends, ...look } } };
  });
  const spreads = points
    .filter(({ min, max }) => min < max)
    .map(({ at, min, max }) => ({
      x: { scale: "x", value: at },
      y: { scale: "y", value: min },
      y2: { scale: "y", value: max },
      stroke: { value: colour },
      opacity: { value: 0.7 },
    }));
  const symbols = points.map((point) => ({
    ...at(point),
    shape: { value: shape },
    size: { value: kind === "ours" ? 70 : 48 },
    fill: { value: colour },
  }));
  return [
    ...strokes,
    ...spreads.map((enter) => /** @type {Mark} */ ({ type: "rule", encode: { enter } })),
    ...symbols.map((enter) => /** @type {Mark} */ ({ type: "symbol", encode: { enter } })),
  ];
}
