/** Untrusted text reaches a terminal escaped: it moves no cursor, sets no title and forges no line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { buildPathFilter } from "hedgerow";
import { expect, test } from "vitest";

import { escapeControls, jsonOf, oneLine } from "../src/print.js";
import { hedgerow } from "./support/bin.js";
import { makeTree } from "./support/tree.js";

/** Turns text red, sets a title, and returns to the beginning of the line. */
const HOSTILE = "a\u001b[31m\u001b]0;b\u0007\rc\u009b1A\u202ed\u200f";
const PLAIN = "a\\u001b[31m\\u001b]0;b\\u0007\\u000dc\\u009b1A\\u202ed\\u200f";

/** Control characters, except line ends. */
const OBEYED = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

test("escapes control characters and leaves other text unchanged", () => {
  expect(escapeControls(HOSTILE)).toBe(PLAIN);
  expect(escapeControls("/caf\u00e9/\u{1f333} a\u00a0b")).toBe("/caf\u00e9/\u{1f333} a\u00a0b");
  expect(oneLine(" a\n  b\u0000\n")).toBe("a b\\u0000");
});

test("prints one line of JSON with control characters escaped", () => {
  const codes = [...range(0, 0x20), ...range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f];
  const obeyed = [...codes, ...range(0x2028, 0x202f), ...range(0x2066, 0x206a)];
  const text = String.fromCharCode(...obeyed);
  const value = { [text]: [text, 'caf\u00e9 \u{1f333} \\u009b "', 1, null] };
  const json = jsonOf(value);
  expect(json).toMatch(/^[^\n]+\n$/);
  expect(json).not.toMatch(OBEYED);
  expect(json).toContain("caf\u00e9 \u{1f333}");
  expect(JSON.parse(json)).toEqual(value);
});

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
}

test("prints a hostile filter version in its own row", async () => {
  const file = join(makeTree(), "filter");
  writeFileSync(file, buildPathFilter(["/a"], { version: `${HOSTILE}\nforged: 1` }));
  const { code, out } = await hedgerow(["paths", "info", file]);
  expect(code).toBe(0);
  expect(out).toContain(`${PLAIN}\\u000aforged: 1\n`);
  expect(out).not.toMatch(OBEYED);
});

test("escapes control characters in queried paths", async () => {
  const file = join(makeTree(), "filter");
  writeFileSync(file, buildPathFilter(["/a"]));
  const { out } = await hedgerow(["paths", "query", file, "-"], `/${HOSTILE}\n`);
  expect(out).toBe(`absent   /${PLAIN}\n`);
  const asked = await hedgerow(["paths", "query", file, "-", "--json"], `/${HOSTILE}\n`);
  expect(JSON.parse(asked.out).path).toBe(`/${HOSTILE}`);
  expect(asked.out).not.toMatch(OBEYED);
});

test("escapes file names and routes in errors and warnings", async () => {
  const name = `x${HOSTILE}.filter`;
  const root = makeTree({ [name]: "none" });
  const { code, err } = await hedgerow(["paths", "info", join(root, name)]);
  expect(code).toBe(3);
  expect(err).toMatch(/^hedgerow: .+\n$/);
  expect(err).not.toMatch(OBEYED);
});

test("escapes control characters in JSON output", async () => {
  const route = { src: `/(.*)${HOSTILE}`, dest: "https://example.com" };
  const root = makeTree({ "config.json": { json: { version: 3, routes: [route] } } });
  const output = join(root, `x${HOSTILE}`);
  const options = ["--source-kind", "build-output", "--json"];
  const built = await hedgerow(["paths", "build", root, "-o", output, ...options]);
  expect(JSON.parse(built.out)).toMatchObject({ output });
  expect(JSON.parse(built.out).warnings.join()).toContain(HOSTILE);
  writeFileSync(output, buildPathFilter(["/"], { version: HOSTILE }));
  const info = await hedgerow(["paths", "info", output, "--json"]);
  expect(JSON.parse(info.out)).toMatchObject({ version: HOSTILE });
  const failed = await hedgerow(["paths", "info", `${output}y`, "--json"]);
  expect(JSON.parse(failed.err)).toMatchObject({ error: { code: "ENOENT" } });
  for (const text of [built.out, built.err, info.out, failed.err]) expect(text).not.toMatch(OBEYED);
});
