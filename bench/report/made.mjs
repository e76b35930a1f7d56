// What a report is made of: the parts of docs/benchmarks.md between their marks, and the charts.
import { bars } from "./charts/bars.mjs";
import { lines } from "./charts/lines.mjs";
import { given } from "./given.mjs";
import { lossesOf } from "./losses.mjs";
import { SECTIONS } from "./sections/index.mjs";
import { sourceOf } from "./source.mjs";
import { tableOf } from "./table.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */
/** @typedef {import("./comparison.mjs").Comparison} Comparison */
/** @typedef {import("./charts/bars.mjs").BarChart} BarChart */
/** @typedef {import("./charts/lines.mjs").LineChart} LineChart */
/** @typedef {import("./given.mjs").Row} Row */

/** A chart, and the rivals that it shows. @typedef {{ svg: string, rivals: string[] }} Chart */

/**
 * A question, and what answers it.
 *
 * @typedef {object} Section
 * @property {string} name
 * @property {string} suite of `npm run bench`, whose record has the answer
 * @property {{ [name: string]: { what: string, comparisons: Comparison[], spreads?: boolean, divide?: number } }} tables
 * @property {{ [name: string]: { head: string[], rows: Row[], spreads?: boolean } }} [given] tables of figures that are compared with nothing
 * @property {{ [file: string]: BarChart }} [bars]
 * @property {{ [file: string]: LineChart }} [lines]
 * @property {Comparison[]} compared where losses are looked for
 */

/**
 * @typedef {object} Made
 * @property {Map<string, string>} parts of the document, by the names of their marks
 * @property {Map<string, Chart>} charts by the names of their files
 */

/** @param {Figures} figures @returns {Promise<Made>} */
export async function make(figures) {
  /** @type {Made} */
  const made = { parts: new Map(), charts: new Map() };
  for (const section of SECTIONS) await add(made, figures, section(figures));
  return made;
}

/** @param {Made} made @param {Figures} figures @param {Section} section */
async function add({ parts, charts }, figures, section) {
  const { name, suite, tables, compared } = section;
  parts.set(`${name}: record`, sourceOf(figures, suite));
  for (const [title, { what, comparisons, ...options }] of Object.entries(tables)) {
    parts.set(`${name}: ${title}`, tableOf(figures, what, comparisons, options));
  }
  for (const [title, { head, rows, ...options }] of Object.entries(section.given ?? {})) {
    parts.set(`${name}: ${title}`, given(figures, head, rows, options));
  }
  for (const [file, chart] of await chartsOf(figures, section)) {
    if (chart !== undefined) charts.set(`${file}.svg`, chart);
    parts.set(`chart: ${file}`, pictureOf(file, chart));
  }
  parts.set(`${name}: losses`, lossesOf(figures, compared));
}

/** @param {Figures} figures @param {Section} section @returns {Promise<[string, (Chart & { title: string }) | undefined][]>} */
async function chartsOf(figures, section) {
  const drawn = [
    ...Object.entries(section.bars ?? {}).map(([file, chart]) => ({
      file,
      chart,
      draw: () => bars(figures, chart),
    })),
    ...Object.entries(section.lines ?? {}).map(([file, chart]) => ({
      file,
      chart,
      draw: () => lines(figures, chart),
    })),
  ];
  return Promise.all(
    drawn.map(async ({ file, chart: { title }, draw }) => {
      const chart = await draw();
      return /** @type {const} */ ([file, chart && { ...chart, title }]);
    }),
  );
}

/** @param {string} file @param {(Chart & { title: string }) | undefined} chart */
function pictureOf(file, chart) {
  if (chart === undefined) return "No chart: this record has no rival to show beside Hedgerow.\n";
  return `![${chart.title}: Hedgerow beside ${chart.rivals.join("; ")}](charts/${file}.svg)\n`;
}
