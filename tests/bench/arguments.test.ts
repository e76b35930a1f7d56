// What `npm run bench` takes for what it is asked.
import { expect, test } from "vitest";
import { parse } from "../../bench/harness/arguments.mjs";
import { SUITES, secondsOf } from "../../bench/suites/index.mjs";

const ALL = Object.keys(SUITES);

test("all suites run when none is named", () => {
  expect(parse([])).toEqual({ suites: ALL, isQuick: false, json: undefined });
  expect(parse(["--quick", "--json", "made.json"])).toEqual({
    suites: ALL,
    isQuick: true,
    json: "made.json",
  });
});

test("named suites run once each, whatever their order", () => {
  expect(parse(["paths", "headers", "paths"])).toMatchObject({ suites: ["headers", "paths"] });
});

test("a report is of the files that are named", () => {
  expect(parse(["report"])).toEqual({ report: [] });
  expect(parse(["report", "one.json", "two.json"])).toEqual({ report: ["one.json", "two.json"] });
});

test.each([["foo"], ["--fast"], ["--json"], ["--json", "--quick"], ["report", "--quick"]])(
  "%s is answered by what is expected",
  (...args) => {
    expect(() => parse(args)).toThrow(/expected\n.*\[SUITE \.\.\.\] \[--quick\] \[--json FILE\]/);
    for (const suite of ALL) expect(() => parse(args)).toThrow(suite);
  },
);

test("a quick run of all suites is said to take less than five minutes, a full one less than 95", () => {
  expect(secondsOf(ALL, true)).toBeLessThan(5 * 60);
  expect(secondsOf(ALL, false)).toBeLessThan(95 * 60);
});
