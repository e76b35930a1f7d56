// Writes the report of records: docs/benchmarks.md, its charts, and the figures of the README.
//
// Generated parts stand between marks that name them: `<!-- name -->` and `<!-- /name -->`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { StepError, step } from "../../scripts/lib/run.mjs";
import { figuresOf, readRecords } from "./figures.mjs";
import { generate } from "./generate.mjs";
import { readmeOf } from "./readme.mjs";

const CHARTS = ["docs", "charts"];

/** Writes the report. @param {string[]} files the records; none for all in bench/records */
export async function writeReport(files) {
  const contents = await reported(files);
  mkdirSync(inRoot(...CHARTS), { recursive: true });
  for (const name of chartNames()) {
    if (!contents.has(`docs/charts/${name}`)) rmSync(inRoot(...CHARTS, name));
  }
  for (const [file, content] of contents) writeFileSync(inRoot(file), content);
  step(`wrote docs/benchmarks.md, README.md and ${contents.size - 2} charts`);
}

/**
 * Returns the contents of the files that a report writes.
 *
 * @param {string[]} files
 * @returns {Promise<Map<string, string>>}
 */
export async function reported(files) {
  const figures = figuresOf(readRecords(files));
  const { sections, charts } = await generate(figures);
  const blocks = [...sections].map(([name, parts]) => {
    return /** @type {const} */ ([name, [...parts.values()].join("\n")]);
  });
  return new Map([
    ["docs/benchmarks.md", filled("docs/benchmarks.md", blocks)],
    ["README.md", filled("README.md", readmeOf(figures))],
    ...[...charts].map(([name, { svg }]) => /** @type {const} */ ([`docs/charts/${name}`, svg])),
  ]);
}

/** Returns the names of the charts in docs/charts. */
export function chartNames() {
  return readdirSync(inRoot(...CHARTS)).filter((name) => name.endsWith(".svg"));
}

/** Returns the names of the marks in a document. @param {string} text */
export function marksIn(text) {
  return [...text.matchAll(/<!-- \/(.+?) -->/g)].map(([, name = ""]) => name);
}

/**
 * Returns a document with its generated parts: blocks on lines of their own, others within theirs.
 *
 * @param {string} document
 * @param {Iterable<readonly [name: string, part: string]>} parts
 */
function filled(document, parts) {
  let text = readFileSync(inRoot(document), "utf8");
  for (const [name, part] of parts) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const from = text.indexOf(begin);
    const to = text.indexOf(end, from);
    if (from < 0 || to < 0) throw new StepError(`${document} has no place for ${begin} … ${end}`);
    const content = part.endsWith("\n") ? `\n\n${part}\n` : part;
    text = text.slice(0, from + begin.length) + content + text.slice(to);
  }
  return text;
}
