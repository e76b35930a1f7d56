/** Documents as tests read them: their sections, and the tables in these. */
import { readFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** The text of a document, from the root of the repository. */
export function documentAt(path: string): string {
  return readFileSync(inRoot(path), "utf8");
}

/** What follows a heading of a document, up to the next one. */
export function section(document: string, heading: string): string {
  const [, text] = document.split(`\n${heading}\n`);
  if (text === undefined) throw new Error(`expected the heading ${heading}, found none`);
  return text.split(/\n#+ /)[0] ?? "";
}

/** The cells of the rows of all tables of a text, without their heads. */
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
