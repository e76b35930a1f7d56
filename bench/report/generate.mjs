// The generated parts of docs/benchmarks.md, and its charts.
import { answerOf } from "./answer.mjs";
import { bars } from "./charts/bars.mjs";
import { lossesOf } from "./losses.mjs";
import { plainTable } from "./plain-table.mjs";
import { adapters } from "./sections/adapters.mjs";
import { asking } from "./sections/asking.mjs";
import { building } from "./sections/building.mjs";
import { codec } from "./sections/codec.mjs";
import { copies } from "./sections/copies.mjs";
import { deciding } from "./sections/deciding.mjs";
import { falsePositives } from "./sections/false-positives.mjs";
import { hitRates } from "./sections/hit-rates.mjs";
import { hits } from "./sections/hits.mjs";
import { loading } from "./sections/loading.mjs";
import { restoring } from "./sections/restoring.mjs";
import { rules } from "./sections/rules.mjs";
import { size } from "./sections/size.mjs";
import { start } from "./sections/start.mjs";
import { stripping } from "./sections/stripping.mjs";
import { recordsOf, sourceOf } from "./source.mjs";
import { tableOf } from "./table.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */
/** @typedef {import("./comparison.mjs").Comparison} Comparison */
/** @typedef {import("./charts/bars.mjs").BarChart} BarChart */
/** @typedef {import("./plain-table.mjs").Row} Row */

/** An SVG file, and the rivals in it. @typedef {{ svg: string, rivals: string[] }} Chart */

/**
 * A question, and the figures that answer it.
 *
 * @typedef {object} Section
 * @property {string} name
 * @property {string} suite of `npm run bench`, whose record has the figures
 * @property {import("./answer.mjs").Answer} answer
 * @property {{ [name: string]: { what: string, comparisons: Comparison[], divide?: number } }} tables
 * @property {{ [name: string]: { head: string[], rows: Row[] } }} [plainTables] tables without a comparison
 * @property {{ [file: string]: BarChart }} charts
 * @property {Comparison[]} compared searched for losses: all that was measured, also where tables show less
 */

/**
 * @typedef {object} Generated
 * @property {Map<string, string>} parts of the document, by the names of their marks
 * @property {Map<string, Chart>} charts by file name
 */

/** In the order of the document. @type {((figures: Figures) => Section)[]} */
export const SECTIONS = [
  ...[stripping, rules, loading, size, asking, building, falsePositives, restoring, deciding],
  ...[codec, hits, copies, hitRates, adapters, start],
];

/** @param {Figures} figures @returns {Promise<Generated>} */
export async function generate(figures) {
  /** @type {Generated} */
  const generated = { parts: new Map(), charts: new Map() };
  const sections = SECTIONS.map((section) => section(figures));
  for (const section of sections) await add(generated, figures, section);
  generated.parts.set(
    "records",
    recordsOf(figures, [...new Set(sections.map(({ suite }) => suite))]),
  );
  return generated;
}

/** @param {Generated} generated @param {Figures} figures @param {Section} section */
async function add({ parts, charts }, figures, section) {
  const { name, suite, answer, tables, compared } = section;
  parts.set(`${name}: answer`, answerOf(figures, answer));
  parts.set(`${name}: record`, sourceOf(figures, suite));
  for (const [title, { what, comparisons, ...options }] of Object.entries(tables)) {
    parts.set(`${name}: ${title}`, tableOf(figures, what, comparisons, options));
  }
  for (const [title, { head, rows }] of Object.entries(section.plainTables ?? {})) {
    parts.set(`${name}: ${title}`, plainTable(figures, head, rows));
  }
  for (const [file, definition] of Object.entries(section.charts)) {
    const chart = await bars(figures, definition);
    if (chart !== undefined) charts.set(`${file}.svg`, chart);
    parts.set(`chart: ${file}`, imageOf(file, definition.title, chart));
  }
  parts.set(`${name}: losses`, lossesOf(figures, compared));
}

/** @param {string} file @param {string} title @param {Chart | undefined} chart */
function imageOf(file, title, chart) {
  if (chart === undefined) return "No chart: this record has no rival to compare with.\n";
  return `![${title}: Hedgerow compared with ${chart.rivals.join("; ")}](charts/${file}.svg)\n`;
}
