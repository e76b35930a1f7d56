// Turns records into what people read: docs/benchmarks.md, its charts, and README's figures.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { step } from "../../scripts/lib/run.mjs";
import { figuresOf, readRecords } from "./figures.mjs";
import { make } from "./made.mjs";
import { filled } from "./marked.mjs";
import { readmeOf } from "./readme.mjs";

const CHARTS = ["docs", "charts"];

/** Writes the report. @param {string[]} files the records, or none for all that are kept */
export async function report(files) {
  const contents = await reported(files);
  mkdirSync(inRoot(...CHARTS), { recursive: true });
  for (const name of chartsKept()) {
    if (!contents.has(`docs/charts/${name}`)) rmSync(inRoot(...CHARTS, name));
  }
  for (const [file, content] of contents) writeFileSync(inRoot(file), content);
  step(`written: docs/benchmarks.md, README.md, and ${contents.size - 2} charts`);
}

/** What a report writes: files, and what is in them. @param {string[]} files @returns {Promise<Map<string, string>>} */
export async function reported(files) {
  const figures = figuresOf(readRecords(files));
  const { parts, charts } = await make(figures);
  const drawn = [...charts].map(
    ([name, { svg }]) => /** @type {const} */ ([`docs/charts/${name}`, svg]),
  );
  return new Map([
    ["docs/benchmarks.md", written("docs/benchmarks.md", parts)],
    ["README.md", written("README.md", readmeOf(figures))],
    ...drawn,
  ]);
}

/** The charts that are there. */
export function chartsKept() {
  return readdirSync(inRoot(...CHARTS)).filter((name) => name.endsWith(".svg"));
}

/** @param {string} document @param {Map<string, string>} parts */
function written(document, parts) {
  return filled(document, readFileSync(inRoot(document), "utf8"), parts);
}
