/** A rival that fails is reported, and the others are measured. */
import { expect, test } from "vitest";
import { measure } from "../../bench/harness/measure.mjs";
import { missingText } from "../../bench/harness/output.mjs";
import { itself, measureParts, pooled, resultsOf, separate } from "../../bench/harness/results.mjs";
import { takeTurns } from "../../bench/harness/turns.mjs";
import { StepError } from "../../scripts/lib/run.mjs";

const FIGURES = { unit: "ms", median: 1, min: 1, max: 1 };

const result = (method: string, median = 1) => ({
  suite: "suite",
  workload: "workload",
  method,
  ...FIGURES,
  median,
});

const refuse = () => {
  throw new Error("refused");
};

test("skips further turns of a method that failed", async () => {
  let calls = 0;
  const failing = () => {
    calls += 1;
    return refuse();
  };
  const methods = [
    { name: "works", time: () => 7 },
    { name: "fails", time: failing },
  ];
  expect(await takeTurns(methods, 3)).toEqual([
    { name: "works", samples: [7, 7, 7], why: undefined },
    { name: "fails", samples: [], why: "Error: refused" },
  ]);
  expect(calls).toBe(1);
});

test("reports a failed method with the figures of the others", async () => {
  const make = () => undefined;
  const methods = [
    { name: "works", make, run: () => 1 },
    { name: "fails", make, run: refuse },
  ];
  const about = { suite: "suite", workload: "workload" };
  const timed = await measure(methods, [0, 1], 2);
  expect(resultsOf({ ...about, unit: "ns" }, timed, itself)).toEqual([
    {
      ...about,
      method: "works",
      unit: "ns",
      median: expect.any(Number),
      min: expect.any(Number),
      max: expect.any(Number),
    },
    { ...about, method: "fails", why: "Error: refused" },
  ]);
});

test("pools processes: the median of their medians and the range of all", () => {
  const figures = [9, 1, 4].map((median) => ({
    ...result("hedgerow"),
    median,
    min: median - 1,
    max: median + 1,
  }));
  expect(pooled(figures.map((one) => [one]))).toEqual([
    { ...result("hedgerow"), median: 4, min: 0, max: 10 },
  ]);
});

test("reports a method that failed in one of several processes", () => {
  const failed = { suite: "suite", workload: "workload", method: "fails", why: "refused" };
  const runs = [
    [result("works"), result("fails")],
    [result("works"), failed],
  ];
  expect(pooled(runs)).toEqual([result("works"), failed]);
});

test("measures the other parts of a suite if one fails", async () => {
  const parts = {
    first: () => {
      throw new StepError("no such program");
    },
    second: () => [result("hedgerow")],
  };
  expect(await measureParts("suite", parts)).toEqual([
    { suite: "suite, first", why: "no such program" },
    result("hedgerow"),
  ]);
});

test("lists results without a figure as missing, with the reason", () => {
  const { results, missing } = separate([
    result("hedgerow"),
    result("a rival", Number.NaN),
    { suite: "suite", why: "XFS cannot be mounted" },
  ]);
  expect(results).toEqual([result("hedgerow")]);
  expect(missingText(missing)).toBe(
    "could not be measured:\n" +
      "  suite | workload | a rival: no finite figure\n" +
      "  suite: XFS cannot be mounted",
  );
});
