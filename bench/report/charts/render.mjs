// Draws a chart as SVG with Vega. All positions are computed here, not measured from fonts: the same record makes the
// same bytes on every machine. Fonts, sizes and colours suit phones, light and dark pages, and colour-blind readers.
import { parse, View } from "vega";

/** @typedef {import("vega").Mark} Mark */
/** @typedef {import("vega").Scale} Scale */
/** @typedef {import("vega").Axis} Axis */

/**
 * @typedef {object} Drawing
 * @property {string} title
 * @property {string[]} lines below the title: what is compared and how to read it
 * @property {string} description for screen readers
 * @property {{ left: number, right: number, top: number, bottom: number }} padding around the plot, below the lines
 * @property {number} height of the plot
 * @property {Scale[]} scales
 * @property {Axis[]} axes
 * @property {Mark[]} marks
 */

/** The width of a chart in pixels. Text of 12 px is about 10 px on a phone. */
const WIDTH = 440;

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

export const TEXT = { title: 15, other: 12 };

/** Colours by kind of method; Hedgerow’s green is from Okabe and Ito’s colour-blind safe set. */
export const COLOUR = {
  page: "#ffffff",
  text: "#1f2933",
  quiet: "#52606d",
  grid: "#e4e7eb",
  spread: "#323f4b",
  ahead: "#b3400e",
  ours: "#009e73",
  own: "#7fd1b9",
  rival: "#8b98a9",
  floor: "#d3d9e0",
};

/** Pixels between the edges and the title. */
const MARGIN = 14;

const LINE_HEIGHT = 17;

/** Returns the width of the plot. @param {{ left: number, right: number }} padding */
export const widthWithin = ({ left, right }) => WIDTH - left - right;

/** @param {Drawing} drawing @returns {Promise<string>} */
export async function render({ title, lines, description, padding, height, ...drawn }) {
  const head = MARGIN + TEXT.title + LINE_HEIGHT * lines.length + 8;
  const top = head + padding.top;
  const spec = parse({
    $schema: "https://vega.github.io/schema/vega/v6.json",
    description,
    background: COLOUR.page,
    autosize: "none",
    width: widthWithin(padding),
    height,
    padding: { ...padding, top },
    ...drawn,
    marks: [...drawn.marks, ...headOf(title, lines, padding.left, top)],
    config: { axis: AXIS, text: { font: FONT, fontSize: TEXT.other, fill: COLOUR.text } },
  });
  const svg = await new View(spec, { renderer: "none" }).toSVG();
  return `${svg}\n`;
}

const AXIS = {
  labelFont: FONT,
  titleFont: FONT,
  labelFontSize: TEXT.other,
  titleFontSize: TEXT.other,
  titleFontWeight: /** @type {const} */ ("normal"),
  labelColor: COLOUR.quiet,
  titleColor: COLOUR.quiet,
  gridColor: COLOUR.grid,
  domain: false,
  ticks: false,
  labelPadding: 6,
  labelOverlap: false,
};

/** @param {string} title @param {string[]} lines @param {number} left @param {number} top @returns {Mark[]} */
function headOf(title, lines, left, top) {
  const at = (/** @type {number} */ y) => ({ x: { value: MARGIN - left }, y: { value: y - top } });
  const first = MARGIN + TEXT.title;
  const bold = { fontSize: { value: TEXT.title }, fontWeight: { value: "bold" } };
  return [
    { ...at(first - 2), ...bold, text: { value: title } },
    ...lines.map((line, index) => ({
      ...at(first + LINE_HEIGHT * (index + 1)),
      ...{ fill: { value: COLOUR.quiet }, text: { value: line } },
    })),
  ].map((enter) => /** @type {Mark} */ ({ type: "text", encode: { enter } }));
}
