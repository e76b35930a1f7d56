// A chart of methods: a bar for each, or a dot on a logarithmic axis, with its spread and its ratio to ours.
import { outcomes } from "../comparison.mjs";
import { plain, ratio, withUnit } from "../format.mjs";
import { linear, logarithmic } from "./axes.mjs";
import { pointsOf, texts } from "./bar-marks.mjs";
import { render, widthWithin } from "./render.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../comparison.mjs").Outcome} Outcome */
/** @typedef {import("../figures.mjs").Figures} Figures */
/** @typedef {import("./bar-marks.mjs").Row} Row */

/**
 * @typedef {object} BarChart
 * @property {string} title
 * @property {string[]} lines below the title
 * @property {string} axis the measured quantity and its unit
 * @property {Comparison[]} comparisons
 * @property {boolean} [log] whether the axis is logarithmic; zeros are left out then
 * @property {number} [divide] converts figures to a larger unit
 */

// In pixels: the minimum width of labels, which aligns charts with each other; the width of a letter in a wide font;
// the height of a row; and the room for a ratio right of the longest bar.
const LABELS = 150;
const LETTER = 7.1;
const ROW = 20;
const RATIO_WIDTH = 62;

/**
 * @param {Figures} figures
 * @param {BarChart} chart
 * @returns {Promise<import("../generate.mjs").Chart | undefined>} nothing if no rival is in the record
 */
export async function bars(figures, chart) {
  const { comparisons, log = false, divide = 1, axis, title, lines } = chart;
  const groups = comparisons
    .map((comparison) => ({
      comparison,
      found: outcomes(figures, comparison).filter(({ result }) => !log || result.min > 0),
    }))
    .filter(({ found }) => found.length > 1);
  const all = groups.flatMap(({ found }) => found);
  const rivals = [
    ...new Set(all.filter(({ kind }) => kind === "rival").map(({ label }) => plain(label))),
  ];
  if (rivals.length === 0) return undefined;
  const { rows, heads, height } = placed(groups, divide);
  const longest = Math.max(...rows.map(({ label }) => label.length));
  const labels = Math.max(LABELS, Math.ceil(longest * LETTER) + 24);
  const padding = { left: labels, right: 12, top: 6, bottom: 42 };
  const width = widthWithin(padding);
  const extent = rows.flatMap(({ value, min, max }) => [value, min, max]);
  const { domain, values } = log
    ? logarithmic(extent, width - RATIO_WIDTH, 46)
    : linear(Math.max(...extent), 4);
  const scale = log ? /** @type {const} */ ("log") : /** @type {const} */ ("linear");
  const svg = await render({
    title,
    lines: [...lines, "× Hedgerow’s figure; red: better than it. Thin lines: min to max."],
    description: `${title}. Compared with Hedgerow: ${rivals.join(", ")}.`,
    padding,
    height,
    scales: [{ name: "x", type: scale, domain: widened(domain, log, width), range: [0, width] }],
    axes: [
      {
        ...{ scale: "x", orient: "bottom", grid: true, values, format: ",.6~r" },
        ...{ title: log ? `${axis} (logarithmic)` : axis, titleY: 22 },
      },
    ],
    marks: [...pointsOf(rows, log), ...texts(rows, heads, labels)],
  });
  return { svg, rivals };
}

/** @param {{ comparison: Comparison, found: Outcome[] }[]} groups @param {number} divide */
function placed(groups, divide) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {{ y: number, label: string }[]} */
  const heads = [];
  let y = 0;
  for (const { comparison, found } of groups) {
    if (groups.length > 1) {
      heads.push({ y: y + ROW / 2, label: plain(comparison.title) });
      y += ROW;
    }
    for (const { label, kind, result, times, ahead } of found) {
      const [value, min, max] = [result.median / divide, result.min / divide, result.max / divide];
      const figure = kind === "ours" ? withUnit(result.median, result.unit) : ratio(times);
      rows.push({ y: y + ROW / 2, label: plain(label), value, min, max, kind, figure, ahead });
      y += ROW;
    }
    y += groups.length > 1 ? 8 : 0;
  }
  return { rows, heads, height: y };
}

/**
 * Extends a domain to make room for the ratio of its largest value.
 *
 * @param {[number, number]} domain
 * @param {boolean} log
 * @param {number} width
 * @returns {[number, number]}
 */
function widened([from, to], log, width) {
  const times = width / (width - RATIO_WIDTH);
  return log ? [from, from * (to / from) ** times] : [from, from + (to - from) * times];
}
