/** Each benchmark run is compared with the recorded claims. */
import { afterEach, describe, expect, test, vi } from "vitest";

import { CLAIMS } from "../../bench/report/claims.mjs";
import { printClaims } from "../../bench/report/print-claims.mjs";
import { StepError } from "../../scripts/lib/run.mjs";
import { result } from "./support/records.js";

/** A run with a result for every claim: 100, and 150 for alternatives. */
const RUN = CLAIMS.flatMap(({ key, alternatives }) => [
  of(key, 100),
  ...alternatives.map((alternative) => of(alternative.key, 150)),
]);

function of([suite, workload, method]: (typeof CLAIMS)[number]["key"], median: number) {
  return result(method, median, { suite, workload });
}

const SUITES = [
  "headers",
  "paths",
  "snapshot",
  "restore",
  "cache",
  "delta",
  "disk",
  "store",
  "fleet",
  "start",
  "adapters",
];

describe("printClaims", () => {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => {
    printed.push(line);
  });
  afterEach(() => {
    printed.length = 0;
  });

  test("prints each claim as recorded and as measured", () => {
    printClaims(RUN, SUITES);
    expect(printed.filter((line) => line.startsWith("  "))).toHaveLength(CLAIMS.length);
    const line = printed.find((one) => one.includes("strip an http::HeaderMap"));
    expect(line).toMatch(/: [\d.]+ ns → 100 ns; HashMap with foldhash [\d.]+ × → 1\.50 ×/);
  });

  test("names each claim that a run has no result for", () => {
    const without = RUN.filter(
      ({ method }) => !["trie-hard", "cp --reflink=always"].includes(method),
    );
    const run = () => printClaims(without, SUITES);
    expect(run).toThrow(StepError);
    expect(run).toThrow(/strip an `http::HeaderMap`, native, compared with `trie-hard`/);
    expect(run).toThrow(/a copy of 4 GiB, XFS, compared with `cp --reflink=always`/);
  });

  test("compares a run with the claims of its own suites only", () => {
    const headers = RUN.filter(({ suite }) => suite.startsWith("headers"));
    expect(() => printClaims(headers, ["headers"])).not.toThrow();
    expect(printed.some((line) => line.includes("create a snapshot"))).toBe(false);
  });
});
