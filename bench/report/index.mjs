// Writes the report of bench/records: docs/benchmarks.md with its charts, docs/benchmark-tables.md, and the figures of
// the README. Generated parts stand between marks that name them: `<!-- name -->` and `<!-- /name -->`.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { StepError, step } from "../../scripts/lib/run.mjs";
import { draw } from "./draw.mjs";
import { figuresOf, readRecords, withUnit } from "./figures.mjs";
import { SECTIONS } from "./sections.mjs";
import { labelOf, lossesOf, markdownOf, outcomes } from "./tables.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */

/**
 * A row of README's table. `variant` is one of Hedgerow's to name as well, `note` follows the alternative.
 *
 * @typedef {object} Headline
 * @property {string} task
 * @property {string} suite
 * @property {string} workload
 * @property {string} [ours]
 * @property {{ method: string, name: string }} [variant]
 * @property {string} [note]
 */

/** README's rows, of which site/figures.data.mjs shows some. The table has losses too. @type {Headline[]} */
export const HEADLINES = [
  { task: "Strip a request of 20 headers, Rust", suite: "headers-clear", workload: "real" },
  { task: "Strip a request of 20 headers, Node", suite: "headers-node24-raw", workload: "real" },
  { task: "Load 24,441 paths and query one", suite: "paths-node24-load", workload: "24441 paths" },
  {
    task: "Query a path, Rust",
    suite: "paths-query",
    workload: "20k mixed",
    variant: { method: "hedgerow-fuse", name: "fuse filter" },
    note: "of all paths",
  },
  {
    task: "Restore 4 GiB, 90 MB/s a connection",
    suite: "snapshot-restore-node20",
    workload: "90 MB/s, 30 ms",
    ours: "hedgerow, Node 24",
  },
  {
    task: "Restore 4 GiB, unlimited network",
    suite: "snapshot-restore-node20",
    workload: "loopback",
    ours: "hedgerow, Node 24",
  },
  {
    task: "Copy 4 GiB out of the cache, XFS",
    suite: "cache-node20, copies on XFS",
    workload: "4 GiB",
  },
  { task: "Copy 4 GiB out of the cache, ext4", suite: "cache-node20, copies", workload: "4 GiB" },
];

/** Writes the report. */
export function writeReport() {
  const files = reported();
  for (const name of chartNames()) {
    if (!files.has(`docs/charts/${name}`)) rmSync(inRoot("docs", "charts", name));
  }
  for (const [file, content] of files) writeFileSync(inRoot(file), content);
  step(`wrote ${files.size} files`);
}

/** Returns the names of the charts that are there. */
export const chartNames = () => readdirSync(inRoot("docs", "charts"));

/** Returns the contents of the files that a report writes. @returns {Map<string, string>} */
export function reported() {
  const figures = figuresOf(readRecords());
  const sections = SECTIONS.map(({ name, finding, chart, tables }) => {
    const parts = [
      `${finding(reader(figures)).replaceAll(/\s+/g, " ")}\n`,
      `![${chart.title}](charts/${name}.svg)\n`,
      lossesOf(figures, tables),
    ];
    return { name, content: parts.join("\n") };
  });
  const readme = [
    { name: "figures", content: headlines(figures) },
    { name: "figure: worker", content: workerSize() },
  ];
  return new Map([
    ["docs/benchmarks.md", filled("docs/benchmarks.md", sections)],
    ["docs/benchmark-tables.md", tablesPage(figures)],
    ["README.md", filled("README.md", readme)],
    ...SECTIONS.map(
      ({ name, chart }) => /** @type {const} */ ([`docs/charts/${name}.svg`, draw(figures, chart)]),
    ),
  ]);
}

/** Reads figures for findings. Throws if a record lacks one. @param {Figures} figures @returns {import("./sections.mjs").At} */
function reader(figures) {
  const median = (/** @type {[string, string, string]} */ ...key) => {
    const found = figures.find(...key);
    if (found === undefined) throw new StepError(`no record has ${key.join(" | ")}`);
    return found;
  };
  return (suite, workload, ours = "hedgerow") => {
    const own = median(suite, workload, ours);
    return {
      ours: withUnit(own.median, own.unit),
      times: (method) => withUnit(median(suite, workload, method).median / own.median, "×"),
    };
  };
}

/** @param {Figures} figures */
function tablesPage(figures) {
  const sections = SECTIONS.map(({ question, tables }) => {
    // A record may be older than a table.
    const measured = tables.filter(({ suite }) => figures.all(suite).length > 0);
    const all = measured.map((table) => markdownOf(figures, table));
    return `## ${question}\n\n${all.join("\n")}`;
  });
  return `# Benchmark tables

Medians from [bench/records](../bench/records). In brackets: the figure over Hedgerow’s; bold where an alternative is
better. [Benchmarks](benchmarks.md) explains the methods.

${sections.join("\n")}`;
}

/** README's table, with the better figure in bold. @param {Figures} figures */
function headlines(figures) {
  const rows = HEADLINES.map((headline) => {
    const { own, best } = bestAlternative(figures, headline);
    const [ours, theirs] = [own, best].map(({ result }) => withUnit(result.median, result.unit));
    const [left, right] = best.ahead ? [ours, `**${theirs}**`] : [`**${ours}**`, theirs];
    const label = [labelOf(best.method), headline.note ?? []].flat().join(" ");
    return `| ${headline.task} | ${left}${variantOf(figures, headline)} | ${right}, ${label} |\n`;
  });
  const records = HEADLINES.flatMap(({ suite }) => figures.record(suite) ?? []);
  const machines = [...new Set(records.map(({ machine }) => machine))].join("; ");
  return `|  | Hedgerow | Best alternative |\n|---|--:|---|\n${rows.join("")}\n*${machines}.*\n`;
}

/** Returns the figure of a variant of Hedgerow, to stand behind ours. @param {Figures} figures @param {Headline} headline */
function variantOf(figures, { suite, workload, variant }) {
  if (variant === undefined) return "";
  const found = figures.find(suite, workload, variant.method);
  if (found === undefined) throw new StepError(`no figure: ${variant.method}`);
  return `; ${variant.name}: ${withUnit(found.median, found.unit)}`;
}

/** @param {Figures} figures @param {Headline} headline */
export function bestAlternative(figures, headline) {
  const found = outcomes(figures, headline, headline.workload);
  const rivals = found.filter(({ kind }) => kind === "rival");
  const [best] = rivals.toSorted((a, b) => a.times - b.times);
  const [own] = found;
  if (own === undefined || best === undefined) throw new StepError(`no figures: ${headline.task}`);
  return { own, best };
}

/** The size of a Worker that strips headers and guards paths, as tests/packaging checks it. */
function workerSize() {
  const sizes = JSON.parse(readFileSync(inRoot("tests", "packaging", "sizes.json"), "utf8"));
  const { raw, gzip } = sizes["worker of Wrangler, headers and paths"];
  return `${(raw / 1000).toFixed(1)} kB, ${(gzip / 1000).toFixed(1)} kB compressed`;
}

/** Fills marked parts: blocks on lines of their own, others within theirs. @param {string} document @param {{ name: string, content: string }[]} parts */
function filled(document, parts) {
  let text = readFileSync(inRoot(document), "utf8");
  for (const { name, content } of parts) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const from = text.indexOf(begin);
    const to = text.indexOf(end, from);
    if (from < 0 || to < 0) throw new StepError(`${document} has no place for ${begin} … ${end}`);
    const written = content.endsWith("\n") ? `\n\n${content}\n` : content;
    text = text.slice(0, from + begin.length) + written + text.slice(to);
  }
  return text;
}
