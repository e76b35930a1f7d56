/** Records have one result a line, so that a diff shows which results changed. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { recordText } from "../../bench/harness/output.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";

const ABOUT = { machine: "a machine", versions: { node: "v24.0.0" } };
const FOLDER = inRoot("bench", "records");

test("writes each result of a record on a line", () => {
  const record = { ...ABOUT, missing: [], results: [{ suite: "a" }, { suite: "b" }] };
  const text = recordText(record);
  expect(JSON.parse(text)).toEqual(record);
  expect(text).toContain('\n    {"suite":"a"},\n    {"suite":"b"}\n');
});

test("writes a record without results", () => {
  const record = { ...ABOUT, missing: [], results: [] };
  expect(JSON.parse(recordText(record))).toEqual(record);
});

test.each(readdirSync(FOLDER))("bench/records/%s has one result a line", (name) => {
  const text = readFileSync(inRoot("bench", "records", name), "utf8");
  const lines = text.split("\n").filter((line) => line.startsWith('    {"suite":'));
  const { results, missing = [] } = JSON.parse(text);
  expect(lines).toHaveLength(results.length + missing.length);
});
