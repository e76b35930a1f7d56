/** Each run is compared with the claims of the README. */
import { afterEach, describe, expect, test, vi } from "vitest";

import { CLAIMS, printClaims } from "../../bench/report/claims/index.mjs";
import { StepError } from "../../scripts/lib/run.mjs";
import { result } from "./support/records.js";

/** A run with a result of 100 for each claim and of 150 for each rival. */
const RUN = CLAIMS.flatMap(({ key, rivals }) => [
  of(key, 100),
  ...rivals.map((rival) => of(rival.key, 150)),
]);

function of([suite, workload, method]: (typeof CLAIMS)[number]["key"], median: number) {
  return result(method, median, { suite, workload });
}

const SUITES = ["headers", "paths", "snapshot", "restore", "cache", "start", "adapters"];

describe("a benchmark run", () => {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => {
    printed.push(line);
  });
  afterEach(() => {
    printed.length = 0;
  });

  test("prints the recorded and the measured figure of each claim", () => {
    printClaims(RUN, SUITES);
    expect(printed.filter((line) => line.startsWith("  "))).toHaveLength(CLAIMS.length);
    const line = printed.find((one) => one.includes("clear an http::HeaderMap"));
    expect(line).toMatch(/: [\d.]+ ns → 100 ns; HashMap with foldhash [\d.]+ × → 1\.50 ×/);
  });

  test("fails with the names of the claims without a result", () => {
    const without = RUN.filter(
      ({ method }) => !["trie-hard", "cp --reflink=always"].includes(method),
    );
    const run = () => printClaims(without, SUITES);
    expect(run).toThrow(StepError);
    expect(run).toThrow(/clear an `http::HeaderMap`, native, beside `trie-hard`/);
    expect(run).toThrow(/a copy of 4 GiB, XFS, beside `cp --reflink=always`/);
  });

  test("checks the claims of its own suites only", () => {
    const headers = RUN.filter(({ suite }) => suite.startsWith("headers"));
    expect(() => printClaims(headers, ["headers"])).not.toThrow();
    expect(printed.some((line) => line.includes("make a snapshot"))).toBe(false);
  });
});
