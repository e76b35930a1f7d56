// The table of engines in docs/compatibility.md: written after a run, and compared by the tests.
import { readFileSync, writeFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** A line of the table. @typedef {{ name: string, version: string, wasm: string, cases: number }} Row */

export const DOCUMENT = "docs/compatibility.md";

const BLOCK = /(<!-- runtimes -->\n).*?(<!-- \/runtimes -->)/s;

/** @param {Row[]} rows */
export function tableOf(rows) {
  const lines = rows.map(
    ({ name, version, wasm, cases }) => `| ${name} | ${version} | ${wasm} | ${cases} |`,
  );
  return [
    "| engine | version | WebAssembly is | cases passed |",
    "|---|---|---|--:|",
    ...lines,
    "",
  ].join("\n");
}

/** The table in the document. */
export function writtenTable() {
  const [block = "", begin = "", end = ""] = BLOCK.exec(readDocument()) ?? [];
  return block.slice(begin.length, block.length - end.length);
}

/** Replaces the table in the document. @param {string} table */
export function writeTable(table) {
  const text = readDocument();
  writeFileSync(
    inRoot(DOCUMENT),
    text.replace(BLOCK, (_, begin, end) => begin + table + end),
  );
}

const readDocument = () => readFileSync(inRoot(DOCUMENT), "utf8");
