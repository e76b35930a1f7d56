/** `hedgerow paths merge`, and `--capacity` of `hedgerow paths build`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPathFilter, measurePathFilter, PathFilter } from "hedgerow";
import { expect, test } from "vitest";
import { hedgerow, hedgerowProcess } from "../support/bin.js";
import { makeTree } from "../support/tree.js";

/** Writes filters of a capacity of 4 and returns the folder: `a` and `b` fit, `c` has another seed. */
function makeParts(): string {
  const root = makeTree();
  const parts = {
    a: buildPathFilter(["/", "/about"], { capacity: 4, version: "1" }),
    b: buildPathFilter(["/blog/*"], { capacity: 4, version: "1" }),
    c: buildPathFilter(["/c"], { capacity: 4, version: "1", seed: 5 }),
    other: buildPathFilter(["/other"], { capacity: 4, version: "2" }),
  };
  for (const [name, file] of Object.entries(parts)) writeFileSync(join(root, name), file);
  return root;
}

test("parts built with --capacity merge to the filter built in one go", async () => {
  const root = makeTree();
  const build = async (name: string, lines: string) => {
    const file = join(root, name);
    const args = ["paths", "build", "-", "-o", file, "--capacity", "3"];
    const run = await hedgerow(args, lines);
    expect(run).toMatchObject({ code: 0, err: "" });
    return file;
  };
  const parts = [await build("a", "/\n/about\n"), await build("b", "/blog/*\n")];
  const merged = join(root, "merged");
  const { code, out, err } = await hedgerow(["paths", "merge", ...parts, "-o", merged]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(
    /^at most 3 paths → [\d,]+ bytes \([\d.]+ bytes a path\), p = 1e-7, m = [\d,]+, k = 23, expected rate [\d.]+e-8\n$/,
  );
  const whole = readFileSync(await build("whole", "/\n/about\n/blog/*\n"));
  expect(readFileSync(merged).equals(whole)).toBe(true);
  expect(readdirSync(root).sort()).toEqual(["a", "b", "merged", "whole"]);
});

test("prints the parameters and the expected rate of the merged filter as JSON", async () => {
  const root = makeParts();
  const [a, b, merged] = ["a", "b", "merged"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const args = ["paths", "merge", a, b, "-o", merged, "--json"];
  const { code, out, err } = await hedgerow(args);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const file = readFileSync(merged);
  expect(JSON.parse(out)).toEqual({
    ...{
      output: merged,
      version: "1",
      kind: "bloom",
      n: 3,
      p: 1e-7,
      s: 0,
      wildcards: 2,
      bytes: file.length,
    },
    ...{ m: expect.any(Number), k: 23, ...measurePathFilter(file) },
  });
  expect(PathFilter.parse(file).has("/blog/*")).toBe(true);
});

test("writes the merged filter to standard output", async () => {
  const root = makeParts();
  const files = ["a", "b"].map((name) => join(root, name));
  const { code, out, err } = await hedgerowProcess(["paths", "merge", ...files, "-o", "-"]);
  expect(code).toBe(0);
  expect(err).toMatch(/^at most 3 paths → /);
  expect(PathFilter.parse(out).params.bloom?.n).toBe(3);
});

test.for([
  ["c", "ERR_FILTER_MERGE", /c: expected s = 0, found s = 5$/],
  ["other", "ERR_FILTER_MERGE", /other: expected the version "1", .*, found "2"$/],
  ["text", "ERR_FILTER_FORMAT", /text: path filter: expected \{ and a member, found 0x74/],
  ["missing", "ENOENT", /missing: expected a path filter: ENOENT/],
] as const)("refuses to merge a filter and %s, and leaves the output unchanged", async (test) => {
  const [name, code, message] = test;
  const root = makeParts();
  writeFileSync(join(root, "text"), "text");
  writeFileSync(join(root, "merged"), "before");
  const files = ["a", name].map((file) => join(root, file));
  const args = ["paths", "merge", ...files, "-o", join(root, "merged"), "--json"];
  const ended = await hedgerow(args);
  expect(ended).toMatchObject({ code: 3, out: "" });
  expect(JSON.parse(ended.err).error).toEqual({ code, message: expect.stringMatching(message) });
  expect(readFileSync(join(root, "merged"), "utf8")).toBe("before");
});

test.for([
  [["merge", "-o", "x"], "missing required argument 'filter'"],
  [["merge", "a"], "required option '-o, --output <file>' not specified"],
  [["build", "-", "-o", "x", "--capacity", "0"], "capacity: expected an integer from 1"],
  [["build", "-", "-o", "x", "--capacity", "1"], "expected at most 1 different paths, found more"],
] as const)("refuses the command line %j", async ([args, message]) => {
  const { code, out, err } = await hedgerow(["paths", ...args], "/a\n/b\n");
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(message);
});

test("refuses an output that cannot be written before it reads a filter", async () => {
  const args = ["paths", "merge", "/missing/a", "-o", "/missing/b", "--json"];
  const { code, err } = await hedgerow(args);
  expect([code, JSON.parse(err).error.code]).toEqual([3, "ERR_OUTPUT"]);
});
