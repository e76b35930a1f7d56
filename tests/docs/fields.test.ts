/** docs/vhs.md names the fields of the format as the errors of readers do. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { documentAt, rowsOf } from "../support/document.js";

const SOURCES = "crates/snapshot/src";

/** Matches the name of a field where the crate reads or checks it. */
const FIELD = /\b(?:Field::new|number|field)\(\s*"([^"]+)"/g;

test("the document of the format has every field that an error names", () => {
  const files = readdirSync(inRoot(SOURCES), { recursive: true, encoding: "utf8" });
  const sources = files
    .filter((name) => name.endsWith(".rs"))
    .map((name) => readFileSync(inRoot(SOURCES, name), "utf8"));
  const named = new Set(
    sources.flatMap((text) => [...text.matchAll(FIELD)].map(([, name]) => name)),
  );
  expect(named.size).toBeGreaterThan(40);

  const document = documentAt("docs/vhs.md");
  const cells = rowsOf(document).flatMap((row) => row.flatMap((cell) => cell.split(", ")));
  const codes = [...document.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code);
  const documented = new Set([...cells, ...codes]);
  expect([...named].filter((name) => !documented.has(name))).toEqual([]);
});
