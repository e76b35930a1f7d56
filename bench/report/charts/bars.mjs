// A chart of methods: a bar for each, or a dot where figures lie far apart, with its spread, and how many
// times ours it is.
import { divided, outcomes } from "../comparison.mjs";
import { plain, ratio, withUnit } from "../say.mjs";
import { FORMAT, linear, logarithmic } from "./axes.mjs";
import { dots, rectangles, texts } from "./bar-marks.mjs";
import { render, widthWithin } from "./render.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../comparison.mjs").Outcome} Outcome */
/** @typedef {import("../figures.mjs").Figures} Figures */
/** @typedef {import("./bar-marks.mjs").Row} Row */

/**
 * @typedef {object} BarChart
 * @property {string} title
 * @property {string[]} [lines] below the title
 * @property {string} axis what is measured, and in which unit
 * @property {Comparison[]} comparisons
 * @property {boolean} [log]
 * @property {number} [divide] by how much figures are divided, for a larger unit
 */

/** The least room for names, so that charts look alike, and what a letter of wide fonts takes. */
const LABELS = 150;
const LETTER = 7.1;

const ROW = 20;
/** What a ratio takes beyond the largest bar. */
const RATIO_WIDTH = 62;

/**
 * @param {Figures} figures
 * @param {BarChart} chart
 * @returns {Promise<import("../made.mjs").Chart | undefined>} nothing where no rival is in the record
 */
export async function bars(figures, chart) {
  const { comparisons, log = false, divide = 1, axis, title, lines = [] } = chart;
  const groups = comparisons
    .map((comparison) => ({ comparison, found: outcomes(figures, comparison) }))
    .filter(({ found }) => found.length > 1);
  const all = groups.flatMap(({ found }) => found);
  const rivals = [
    ...new Set(all.filter(({ kind }) => kind === "rival").map(({ says }) => plain(says))),
  ];
  if (rivals.length === 0) return undefined;
  const { rows, heads, height } = placed(groups, divide);
  const labels = labelWidth(rows);
  const padding = { left: labels, right: 12, top: 6, bottom: 42 };
  const width = widthWithin(padding);
  const extent = rows.flatMap(({ value, min, max }) => [value, min, max]);
  const { domain, values } = log
    ? logarithmic(extent, width - RATIO_WIDTH, 46)
    : linear(Math.max(...extent), 4);
  const scale = log ? /** @type {const} */ ("log") : /** @type {const} */ ("linear");
  const svg = await render({
    title,
    lines: [...lines, "× is times Hedgerow’s, red if ahead; lines: least to most."],
    description: `${title}. Beside Hedgerow: ${rivals.join(", ")}.`,
    padding,
    height,
    scales: [{ name: "x", type: scale, domain: widened(domain, log, width), range: [0, width] }],
    axes: [
      {
        ...{ scale: "x", orient: "bottom", grid: true, values, format: FORMAT },
        ...{ title: log ? `${axis} (logarithmic)` : axis, titleY: 22 },
      },
    ],
    marks: [...(log ? dots(rows) : rectangles(rows)), ...texts(rows, heads, labels)],
  });
  return { svg, rivals };
}

/** @param {{ comparison: Comparison, found: Outcome[] }[]} groups @param {number} divide */
function placed(groups, divide) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {{ y: number, says: string }[]} */
  const heads = [];
  let y = 0;
  for (const { comparison, found } of groups) {
    if (groups.length > 1) {
      heads.push({ y: y + ROW / 2, says: plain(comparison.title) });
      y += ROW;
    }
    for (const { says, kind, result, times, ahead } of found) {
      const { median: value, min, max } = divided(result, divide);
      const said = kind === "ours" ? withUnit(result.median, result.unit) : ratio(times);
      rows.push({ y: y + ROW / 2, says: plain(says), value, min, max, kind, said, ahead });
      y += ROW;
    }
    y += groups.length > 1 ? 8 : 0;
  }
  return { rows, heads, height: y };
}

/** How much room names take, at the left. @param {Row[]} rows */
function labelWidth(rows) {
  const longest = Math.max(...rows.map(({ says }) => says.length));
  return Math.max(LABELS, Math.ceil(longest * LETTER) + 24);
}

/** With room for what stands at the largest. @param {[number, number]} domain @param {boolean} log @param {number} width @returns {[number, number]} */
function widened([from, to], log, width) {
  const times = width / (width - RATIO_WIDTH);
  return log ? [from, from * (to / from) ** times] : [from, from + (to - from) * times];
}
