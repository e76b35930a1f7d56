// The README's table of engines: made of a run, and compared with one.
import { readFileSync, writeFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** A line of the table. @typedef {{ name: string, version: string, wasm: string, cases: number }} Row */

const README = inRoot("README.md");
const BLOCK = /(<!-- runtimes -->\n).*?(<!-- \/runtimes -->)/s;

/** @param {Row[]} rows */
export function tableOf(rows) {
  const lines = rows.map(
    ({ name, version, wasm, cases }) => `| ${name} | ${version} | ${wasm} | ${cases} |`,
  );
  return [
    "| engine | version | WebAssembly is | cases kept |",
    "|---|---|---|--:|",
    ...lines,
    "",
  ].join("\n");
}

/** The table that the README has. */
export function tableInReadme() {
  const [block = "", begin = "", end = ""] = BLOCK.exec(readFileSync(README, "utf8")) ?? [];
  return block.slice(begin.length, block.length - end.length);
}

/** Puts a table in the place of the one that the README has. @param {string} table */
export function writeTable(table) {
  const text = readFileSync(README, "utf8");
  writeFileSync(
    README,
    text.replace(BLOCK, (_, begin, end) => begin + table + end),
  );
}
