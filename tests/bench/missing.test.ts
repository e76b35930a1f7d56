// A rival that cannot be run is told of, and the others are measured.
import { expect, test } from "vitest";
import { measure } from "../../bench/harness/measure.mjs";
import { allParts, apart, sayMissing } from "../../bench/harness/missing.mjs";
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

test("a way that fails has no more turns, and the others have all of theirs", async () => {
  let tries = 0;
  const failing = () => {
    tries += 1;
    return refuse();
  };
  const ways = [
    { name: "works", time: () => 7 },
    { name: "fails", time: failing },
  ];
  expect(await takeTurns(ways, 3)).toEqual([
    { name: "works", samples: [7, 7, 7], why: undefined },
    { name: "fails", samples: [], why: "Error: refused" },
  ]);
  expect(tries).toBe(1);
});

test("a method that fails is told of beside the figures of the others", () => {
  const make = () => undefined;
  const methods = [
    { name: "works", make, run: () => 1 },
    { name: "fails", make, run: refuse },
  ];
  const [works, fails] = measure(methods, [0, 1], 2);
  expect(works).toEqual({
    method: "works",
    median: expect.any(Number),
    min: expect.any(Number),
    max: expect.any(Number),
  });
  expect(fails).toEqual({ method: "fails", why: "Error: refused" });
});

test("a part that fails leaves the others of its suite", async () => {
  const parts = {
    first: () => {
      throw new StepError("no such program");
    },
    second: () => [result("hedgerow")],
  };
  expect(await allParts("suite", parts)).toEqual([
    { suite: "suite, first", why: "no such program" },
    result("hedgerow"),
  ]);
});

test("what has no figure is missing, and is named with the reason", () => {
  const { results, missing } = apart([
    result("hedgerow"),
    result("a rival", Number.NaN),
    { suite: "suite", why: "XFS cannot be mounted" },
  ]);
  expect(results).toEqual([result("hedgerow")]);
  expect(sayMissing(missing)).toBe(
    "could not be measured:\n" +
      "  suite | workload | a rival: there is no figure\n" +
      "  suite: XFS cannot be mounted",
  );
});
