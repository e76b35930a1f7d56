// Draws a chart as SVG: a bar for each method, or a dot on a logarithmic axis, with its spread and its ratio to ours.
// Nothing is measured from fonts: the same record makes the same bytes on every machine. Sizes and colours suit
// phones, light and dark pages, and colour-blind readers.
import { ratio, withUnit } from "./figures.mjs";
import { labelOf, outcomes } from "./tables.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */
/** @typedef {import("./sections.mjs").Chart} Chart */

/** Pixels. Text of 12 px is about 10 px on a phone. */
const WIDTH = 440;
const MARGIN = 14;
const LINE = 17;
const ROW = 20;
/** The width of a letter in a wide font, and room for a ratio right of the longest bar. */
const LETTER = 7.1;
const RATIO = 62;

/** Hedgerow’s green is from Okabe and Ito’s colour-blind safe set. */
const FILL = { ours: "#009e73", own: "#7fd1b9", rival: "#8b98a9", floor: "#d3d9e0" };
const [TEXT, QUIET, GRID, SPREAD, AHEAD] = ["#1f2933", "#52606d", "#e4e7eb", "#323f4b", "#b3400e"];
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/** @param {Figures} figures @param {Chart} chart */
export function draw(figures, chart) {
  const { title, lines, axis, divide = 1, log = false } = chart;
  const { rows, heads, height } = placed(figures, chart);
  const labels = Math.max(
    150,
    Math.ceil(Math.max(...rows.map(({ label }) => label.length)) * LETTER) + 24,
  );
  const width = WIDTH - labels - 12 - RATIO;
  const all = rows.flatMap(({ median, min, max }) => [median, min, max].map((one) => one / divide));
  const { domain, values } = log ? logarithmic(all, width) : linear(Math.max(...all));
  const x = scaleOf(domain, log, labels, width);
  const top = MARGIN + 15 + LINE * (lines.length + 1) + 14;
  const page = top + height + 42;
  const marks = [
    text(MARGIN, MARGIN + 13, title, { "font-size": 15, "font-weight": "bold" }),
    ...[...lines, "× Hedgerow’s figure; red: better than it. Thin lines: min to max."].map(
      (line, index) => text(MARGIN, MARGIN + 15 + LINE * (index + 1), line, { fill: QUIET }),
    ),
    ...values.flatMap((value) => [
      line(x(value), x(value), top, top + height, GRID, 1),
      text(x(value), top + height + 16, value.toLocaleString("en"), {
        "text-anchor": "middle",
        fill: QUIET,
      }),
    ]),
    text(labels + width / 2, top + height + 34, log ? `${axis} (logarithmic)` : axis, {
      "text-anchor": "middle",
      fill: QUIET,
    }),
    ...heads.map(({ y, label }) => text(MARGIN, top + y + 4, label, { "font-weight": "bold" })),
    ...rows.flatMap(({ y, kind, label, note, ahead, ...figure }) => {
      const [value, min, max] = [figure.median, figure.min, figure.max].map((n) => x(n / divide));
      const middle = top + y;
      const bold = { "font-weight": kind === "ours" || ahead ? "bold" : "normal" };
      const weight = { "font-weight": kind === "ours" ? "bold" : "normal" };
      const bar = `<rect x="${tidy(labels)}" y="${middle - 6}" width="${tidy((value ?? 0) - labels)}" height="12" rx="1" fill="${FILL[kind]}"/>`;
      const dot = `<circle cx="${tidy(value ?? 0)}" cy="${middle}" r="${kind === "ours" ? 6 : 4.5}" fill="${FILL[kind]}"/>`;
      const spread = line(min ?? 0, max ?? 0, middle, middle, SPREAD, 1.25);
      return [
        ...(log ? [spread, dot] : [bar, spread]),
        text(labels - 8, middle + 4, label, { "text-anchor": "end", ...weight }),
        text(Math.max(value ?? 0, max ?? 0) + 8, middle + 4, note, {
          ...bold,
          fill: ahead ? AHEAD : TEXT,
        }),
      ];
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${page}" viewBox="0 0 ${WIDTH} ${page}" role="img" font-family="${FONT}" font-size="12">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${page}" fill="#ffffff"/>
${marks.join("\n")}
</svg>
`;
}

/** Returns the rows, the heads of groups and their places, downwards from the top of the plot. @param {Figures} figures @param {Chart} chart */
function placed(figures, { groups, methods, log = false }) {
  /** @type {{ y: number, label: string }[]} */
  const heads = [];
  const rows = [];
  let y = ROW / 2;
  for (const { title, ...group } of groups) {
    if (groups.length > 1) {
      heads.push({ y, label: title ?? group.workload });
      y += ROW;
    }
    const found = outcomes(figures, group, group.workload)
      .filter(({ kind, method }) => kind === "ours" || methods.includes(method))
      .filter(({ result }) => !log || result.min > 0)
      .toSorted((a, b) => methods.indexOf(a.method) - methods.indexOf(b.method));
    for (const { kind, method, result, times, ahead } of found) {
      const { median, min, max, unit } = result;
      const note = kind === "ours" ? withUnit(median, unit) : `${ratio(times)} ×`;
      const label = labelOf(method).replaceAll(/[`\\]/g, "");
      rows.push({ y, kind, label, median, min, max, note, ahead });
      y += ROW;
    }
    y += groups.length > 1 ? 8 : 0;
  }
  return { rows, heads, height: y };
}

/** @param {number[]} domain @param {boolean} log @param {number} left @param {number} width */
function scaleOf([from = 0, to = 1], log, left, width) {
  const at = (/** @type {number} */ value) => (log ? Math.log(value) : value);
  return (/** @type {number} */ value) =>
    left + (width * (at(value) - at(from))) / (at(to) - at(from));
}

/** Returns an axis from zero in about four round steps. @param {number} largest */
function linear(largest) {
  const power = 10 ** Math.floor(Math.log10(largest / 4));
  const step = power * ([1, 2, 2.5, 5].find((times) => times * power >= largest / 4) ?? 10);
  const count = Math.ceil(largest / step);
  const values = Array.from({ length: count + 1 }, (_, index) => tidy(index * step));
  return { domain: [0, Math.max(values.at(-1) ?? 0, largest)], values };
}

/** Returns a logarithmic axis with labels at powers of ten, and between them if there is room. @param {number[]} all @param {number} pixels */
function logarithmic(all, pixels) {
  const [min, max] = [Math.min(...all) / 1.25, Math.max(...all) * 1.25];
  const decades = Math.log10(max / min);
  const digits = pixels / decades >= 150 ? [1, 2, 5] : pixels / decades >= 98 ? [1, 3] : [1];
  const every = Math.ceil((46 * decades) / pixels);
  const first = Math.floor(Math.log10(min));
  const values = Array.from({ length: Math.ceil(decades) + 2 }, (_, index) => first + index)
    .filter((exponent) => (exponent - first) % every === 0)
    .flatMap((exponent) => digits.map((digit) => tidy(digit * 10 ** exponent)))
    .filter((value) => value >= min && value <= max);
  return { domain: [min, max], values };
}

/** Removes rounding errors. @param {number} value */
const tidy = (value) => Number(value.toPrecision(5));

/** @param {string} content */
const escaped = (content) =>
  content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** @param {number} x @param {number} y @param {string} content @param {{ [name: string]: string | number }} attributes */
function text(x, y, content, attributes) {
  const all = { fill: TEXT, ...attributes };
  const written = Object.entries(all).map(([name, value]) => ` ${name}="${value}"`);
  return `<text x="${tidy(x)}" y="${tidy(y)}"${written.join("")}>${escaped(content)}</text>`;
}

/** @param {number} x1 @param {number} x2 @param {number} y1 @param {number} y2 @param {string} colour @param {number} width */
const line = (x1, x2, y1, y2, colour, width) =>
  `<line x1="${tidy(x1)}" x2="${tidy(x2)}" y1="${tidy(y1)}" y2="${tidy(y2)}" stroke="${colour}" stroke-width="${width}"/>`;
