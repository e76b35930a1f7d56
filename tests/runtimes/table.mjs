// The table of engines in docs/compatibility.md: written after a run, and compared by the tests.
import { writePart, writtenPart } from "../support/parts.mjs";

/** A line of the table. @typedef {{ name: string, version: string, wasm: string, cases: number }} Row */

export const DOCUMENT = "docs/compatibility.md";

const NAME = "runtimes";

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
export const writtenTable = () => writtenPart(DOCUMENT, NAME);

/** Replaces the table in the document. @param {string} table */
export const writeTable = (table) => writePart(DOCUMENT, NAME, table);
