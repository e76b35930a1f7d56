// The generated parts of docs/benchmarks.md, and its charts.
import { answerOf } from "./answer.mjs";
import { bars } from "./charts/bars.mjs";
import { lossesOf } from "./losses.mjs";
import { ADAPTERS } from "./sections/adapters.mjs";
import { BOOTS } from "./sections/boots.mjs";
import { COPIES, HIT_RATES, HIT_TIMES } from "./sections/cache.mjs";
import { DELTAS } from "./sections/delta.mjs";
import { DISKS, FILLED_DISKS } from "./sections/disk.mjs";
import { FLEET_BYTES, FLEET_HITS, FLEET_LOAD, FLEET_MOVES, FLEET_TIER } from "./sections/fleet.mjs";
import { RULES, STRIPPING } from "./sections/headers.mjs";
import { BUILDING, FALSE_POSITIVES, LOADING, QUERYING, SIZE } from "./sections/paths.mjs";
import { RESTORING, settings } from "./sections/restore.mjs";
import { CODEC } from "./sections/snapshot.mjs";
import { START } from "./sections/start.mjs";
import { STORES } from "./sections/store.mjs";
import { recordsOf, sourceOf } from "./source.mjs";
import { tableOf } from "./tables.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */

/**
 * A question, and the figures that answer it.
 *
 * @typedef {object} Section
 * @property {string} name
 * @property {string} suite of `npm run bench`, whose record has the figures
 * @property {import("./answer.mjs").Answer} answer
 * @property {import("./charts/bars.mjs").BarChart} chart
 * @property {{ [name: string]: import("./tables.mjs").ComparisonTable | import("./tables.mjs").FigureTable }} tables
 * @property {import("./comparison.mjs").Comparison[]} compared searched for losses: all that was measured, also where tables show less
 */

/** An SVG file, and the rivals in it. @typedef {{ svg: string, rivals: string[] }} Chart */

/**
 * @typedef {object} Generated
 * @property {Map<string, Map<string, string>>} sections the parts of each section, in order; by name
 * @property {Map<string, Chart>} charts by file name
 */

/** Returns the sections in the order of the document. @param {Figures} figures @returns {Section[]} */
export const sectionsOf = (figures) => [
  ...[STRIPPING, RULES, LOADING, SIZE, QUERYING, BUILDING, FALSE_POSITIVES],
  ...[RESTORING, settings(figures), CODEC, HIT_TIMES, COPIES, HIT_RATES, DELTAS],
  ...[DISKS, BOOTS, FILLED_DISKS, STORES],
  ...[FLEET_HITS, FLEET_LOAD, FLEET_BYTES, FLEET_MOVES, FLEET_TIER, ADAPTERS, START],
];

/** @param {Figures} figures @returns {Promise<Generated>} */
export async function generate(figures) {
  /** @type {Generated} */
  const { sections, charts } = { sections: new Map(), charts: new Map() };
  const all = sectionsOf(figures);
  for (const { name, suite, answer, chart, tables, compared } of all) {
    const drawn = await bars(figures, chart);
    const file = `${name.replace(" ", "-")}.svg`;
    if (drawn !== undefined) charts.set(file, drawn);
    sections.set(
      name,
      new Map([
        ["answer", answerOf(figures, answer)],
        ["chart", imageOf(file, chart.title, drawn)],
        ...Object.entries(tables).map(
          ([title, table]) => /** @type {const} */ ([title, tableOf(figures, table)]),
        ),
        ["losses", lossesOf(figures, compared)],
        ["record", sourceOf(figures, suite)],
      ]),
    );
  }
  const suites = new Set(all.map(({ suite }) => suite));
  sections.set("records", new Map([["list", recordsOf(figures, [...suites])]]));
  return { sections, charts };
}

/** @param {string} file @param {string} title @param {Chart | undefined} drawn */
function imageOf(file, title, drawn) {
  if (drawn === undefined) return "No chart: this record has no rival to compare with.\n";
  return `![${title}: Hedgerow compared with ${drawn.rivals.join("; ")}](charts/${file})\n`;
}
