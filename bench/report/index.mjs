// Writes the report of records: docs/benchmarks.md, its charts, and the figures of the README.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { step } from "../../scripts/lib/run.mjs";
import { figuresOf, readRecords } from "./figures.mjs";
import { generate } from "./generate.mjs";
import { filled } from "./marked.mjs";
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

/** Returns the contents of the files that a report writes. @param {string[]} files @returns {Promise<Map<string, string>>} */
export async function reported(files) {
  const figures = figuresOf(readRecords(files));
  const { parts, charts } = await generate(figures);
  const drawn = [...charts].map(
    ([name, { svg }]) => /** @type {const} */ ([`docs/charts/${name}`, svg]),
  );
  return new Map([
    ["docs/benchmarks.md", withParts("docs/benchmarks.md", parts)],
    ["README.md", withParts("README.md", readmeOf(figures))],
    ...drawn,
  ]);
}

/** Returns the names of the charts in docs/charts. */
export function chartNames() {
  return readdirSync(inRoot(...CHARTS)).filter((name) => name.endsWith(".svg"));
}

/** @param {string} document @param {Map<string, string>} parts */
function withParts(document, parts) {
  return filled(document, readFileSync(inRoot(document), "utf8"), parts);
}
