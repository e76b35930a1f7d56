/** Parses Markdown documents: their sections and tables. */
import { readFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** Returns the text of a document. The path is relative to the root of the repository. */
export function documentAt(path: string): string {
  return readFileSync(inRoot(path), "utf8");
}

/** Returns the text between a heading and the next one. */
export function section(document: string, heading: string): string {
  const [, text] = document.split(`\n${heading}\n`);
  if (text === undefined) throw new Error(`the document has no heading ${heading}`);
  return text.split(/\n#+ /)[0] ?? "";
}

/** Returns the cells of all table rows, without the header rows. */
export function rowsOf(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  const rows = lines.map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  const isRule = (row?: string[]) => row?.every((cell) => /^:?-+:?$/.test(cell)) ?? false;
  return rows.filter((row, index) => !isRule(row) && !isRule(rows[index + 1]));
}
