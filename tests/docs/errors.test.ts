/** The format documents list the errors of readers; these tests compare the lists with the code. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { documentAt, rowsOf, section } from "../support/document.js";

/** Returns the code of a crate without comments. */
function sourceOf(crate: string): string {
  const folder = inRoot("crates", crate, "src");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".rs"));
  const source = files.map((name) => readFileSync(`${folder}/${name}`, "utf8"));
  return source.join("\n").replace(/^\s*\/\/.*$/gm, "");
}

/** Returns the text between backticks. */
const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, words]) => words ?? "");

test("docs/path-filter.md lists what readers of path filters expect", () => {
  const source = sourceOf("paths");
  const rows = rowsOf(section(documentAt("docs/path-filter.md"), "## Errors and limits"));
  const expected = rows.flatMap(([, cell = ""]) => quoted(cell));
  expect(expected.length).toBeGreaterThan(20);
  for (const words of expected) expect(source).toContain(`"${words}"`);
});

test("docs/vhs.md lists every field that readers of snapshots report", () => {
  const document = documentAt("docs/vhs.md");
  const named =
    /\b(?:number|field|new|of_frame)\("([a-z][^"]*)"|"((?:magic number|length) of the [^"]+)"/g;
  const fields = [...sourceOf("snapshot").matchAll(named)].map(
    ([, field, other]) => field ?? other,
  );
  expect(new Set(fields).size).toBeGreaterThan(30);
  // Two fields share a row.
  const known = document.replace(
    "compressed length, raw length",
    "compressed length in the seek table, raw length",
  );
  for (const field of new Set(fields)) expect(known).toContain(field);
});

test("docs/vhs.md lists only fields that readers report", () => {
  const source = sourceOf("snapshot");
  const rows = rowsOf(section(documentAt("docs/vhs.md"), "## Errors"));
  const fields = rows.filter(({ length }) => length === 3).flatMap(([cell = ""]) => quoted(cell));
  expect(fields.length).toBeGreaterThan(5);
  for (const field of fields) expect(source).toContain(`"${field}"`);
});
