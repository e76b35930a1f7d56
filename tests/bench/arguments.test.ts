/** The arguments of `npm run bench`. */
import { expect, test } from "vitest";
import { parse, SUITES, secondsOf } from "../../bench/suites/index.mjs";

const ALL = Object.keys(SUITES);

test("runs all suites by default", () => {
  expect(parse([])).toEqual({ suites: ALL, isQuick: false, json: undefined });
  expect(parse(["--quick", "--json", "made.json"])).toEqual({
    suites: ALL,
    isQuick: true,
    json: "made.json",
  });
});

test("runs named suites once, in a fixed order", () => {
  expect(parse(["paths", "headers", "paths"])).toMatchObject({ suites: ["headers", "paths"] });
});

test("writes the report", () => {
  expect(parse(["report"])).toBe("report");
});

test.each([["foo"], ["--fast"], ["--json"], ["--json", "--quick"], ["report", "--quick"]])(
  "rejects %s with the expected arguments",
  (...args) => {
    expect(() => parse(args)).toThrow(/expected\n.*\[SUITE \.\.\.\] \[--quick\] \[--json FILE\]/);
    for (const suite of ALL) expect(() => parse(args)).toThrow(suite);
  },
);

test("estimates less than 11 minutes for a quick run of all suites and less than 200 for a full one", () => {
  expect(secondsOf(ALL, true)).toBeLessThan(11 * 60);
  expect(secondsOf(ALL, false)).toBeLessThan(200 * 60);
});
