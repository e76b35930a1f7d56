/** What others wrote reaches a terminal as text: it moves no cursor, sets no title and forges no line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPathFilter } from "hedgerow";
import { expect, test } from "vitest";

import { oneLine, shown } from "../src/one-line.js";
import { hedgerow } from "./support/bin.js";
import { makeTree } from "./support/tree.js";

/** Turns text red, sets a title, and goes back to the beginning of the line. */
const HOSTILE = "a\u001b[31m\u001b]0;b\u0007\rc\u009b1A\u202ed";
const PLAIN = "a\\u001b[31m\\u001b]0;b\\u0007\\u000dc\\u009b1A\\u202ed";

/** What a terminal would obey, but for the ends of lines. */
const OBEYED = /[^\P{Cc}\n]|\u202e/u;

test("what a terminal would obey is told by its number, and all else stays", () => {
  expect(shown(HOSTILE)).toBe(PLAIN);
  expect(shown("/caf\u00e9/\u{1f333} a\u00a0b")).toBe("/caf\u00e9/\u{1f333} a\u00a0b");
  expect(oneLine(" a\n  b\u0000\n")).toBe("a b\\u0000");
});

test("the version of a filter is shown in its own row", async () => {
  const file = join(makeTree(), "filter");
  writeFileSync(file, buildPathFilter(["/a"], { version: `${HOSTILE}\nforged: 1` }));
  const { code, out } = await hedgerow(["paths", "info", file]);
  expect(code).toBe(0);
  expect(out).toContain(`${PLAIN}\\u000aforged: 1\n`);
  expect(out).not.toMatch(OBEYED);
});

test("paths that are asked for are shown as text, and are JSON where that is asked for", async () => {
  const file = join(makeTree(), "filter");
  writeFileSync(file, buildPathFilter(["/a"]));
  const { out } = await hedgerow(["paths", "query", file, "-"], `/${HOSTILE}\n`);
  expect(out).toBe(`absent   /${PLAIN}\n`);
  const asked = await hedgerow(["paths", "query", file, "-", "--json"], `/${HOSTILE}\n`);
  expect(JSON.parse(asked.out).path).toBe(`/${HOSTILE}`);
});

test("errors and warnings that name files and routes are text", async () => {
  const name = `x${HOSTILE}.filter`;
  const root = makeTree({ [name]: "none" });
  const { code, err } = await hedgerow(["paths", "info", join(root, name)]);
  expect(code).toBe(3);
  expect(err).toMatch(/^hedgerow: .+\n$/);
  expect(err).not.toMatch(OBEYED);
});
