// Writes the tables of docs/benchmarks.md that are made of a record: `node scripts/bench/tables.mjs RECORD`.
// Each stands between marks that name it.
import { readFileSync, writeFileSync } from "node:fs";

import { inRoot } from "../lib/paths.mjs";
import { main, StepError, step } from "../lib/run.mjs";
import { adapterTables } from "./tables/adapters.mjs";
import { startTables } from "./tables/start.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

const DOCUMENT = inRoot("docs", "benchmarks.md");

await main(() => {
  const [, , record] = process.argv;
  if (record === undefined) throw new StepError("expected a record that npm run bench has written");
  /** @type {{ results: Result[] }} */
  const { results } = JSON.parse(readFileSync(record, "utf8"));
  const tables = { ...startTables(results), ...adapterTables(results) };
  let text = readFileSync(DOCUMENT, "utf8");
  for (const [name, table] of Object.entries(tables)) text = replaced(text, name, table);
  writeFileSync(DOCUMENT, text);
  step(`written to docs/benchmarks.md: ${Object.keys(tables).join(", ")}`);
});

/** @param {string} text @param {string} name @param {string} table */
function replaced(text, name, table) {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new StepError(`docs/benchmarks.md has no place for ${name}`);
  return `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`;
}
