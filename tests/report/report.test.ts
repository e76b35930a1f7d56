/** docs/benchmarks.md, its tables and charts and the figures of the README are generated from the records. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

import { draw } from "../../bench/report/draw.mjs";
import { figuresOf, ratio, readRecords, withUnit } from "../../bench/report/figures.mjs";
import { bestAlternative, chartNames, HEADLINES, reported } from "../../bench/report/index.mjs";
import { SECTIONS } from "../../bench/report/sections.mjs";
import { lossesOf, markdownOf } from "../../bench/report/tables.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";

const MEND = "run: npm run bench -- report";

const figures = figuresOf(readRecords());
const text = (file: string) => readFileSync(inRoot(file), "utf8");

describe("what is published", () => {
  test.each([...reported()])("%s equals the records", (file, content) => {
    expect(text(file), `${file}: ${MEND}`).toBe(content);
  });

  test("no chart is left over", () => {
    expect(chartNames().toSorted()).toEqual(SECTIONS.map(({ name }) => `${name}.svg`).toSorted());
  });

  test("docs/benchmarks.md has times and ratios in generated parts only", () => {
    const prose = text("docs/benchmarks.md").replaceAll(/<!-- (.+?) -->.*?<!-- \/\1 -->/gs, "");
    expect(prose.match(/\d (?:ns|µs|×|MiB\/s).*/g)).toBeNull();
  });

  test("README shows at least two losses in at most eight rows", () => {
    const lost = HEADLINES.filter((headline) => bestAlternative(figures, headline).best.ahead);
    expect(HEADLINES.length).toBeLessThanOrEqual(8);
    expect(lost.length).toBeGreaterThanOrEqual(2);
  });
});

describe("a table", () => {
  const table = { title: "strip", suite: "headers-clear" };
  const trial = (better = 150, rest = {}) =>
    figuresOf([
      {
        name: "trial.json",
        machine: "a machine",
        date: "2026-11-22",
        results: [result("trie-hard", better), result("hedgerow", 200), result("floor-a", 1)],
        ...rest,
      },
    ]);

  test("has ours first, and an alternative that is better in bold", () => {
    expect(markdownOf(trial(), table)).toBe(
      "| strip, ns | real |\n|---|--:|\n| **hedgerow** | 200 |\n" +
        "| `trie-hard` | 150 (**0.75**) |\n| floor-a | 1.00 (0.005) |\n",
    );
  });

  test("names the alternatives that are ahead, and never a floor", () => {
    expect(lossesOf(trial(), [table])).toBe(
      "**Where it loses:** `trie-hard` (1 of 1 cases, 0.75 ×).\n",
    );
    expect(lossesOf(trial(300), [table])).toContain("nowhere");
    expect(lossesOf(trial(300), [{ ...table, more: true }])).toContain("1.50 ×");
  });

  test("has figures of the newest record of its suite only", () => {
    const old = [result("hedgerow", 999), result("phf", 999)];
    const young = [result("hedgerow", 100)];
    const about = { name: "trial.json", machine: "a machine" };
    const both = figuresOf([
      { ...about, date: "2026-11-23", results: young },
      { ...about, date: "2026-01-01", results: old },
    ]);
    expect(markdownOf(both, table)).not.toContain("999");
  });
});

test("figures have units and three significant digits", () => {
  expect(withUnit(4392, "ns")).toBe("4.39 µs");
  expect(withUnit(161_900, "bytes")).toBe("162 kB");
  expect([0.9996, 0.97, 15.14, 17_522].map(ratio)).toEqual(["0.99960", "0.97", "15.1", "17,522"]);
});

test.each(SECTIONS)("the chart $name fits a phone and shows an alternative", ({ chart }) => {
  const svg = draw(figures, chart);
  const sizes = [...svg.matchAll(/font-size="(\d+)"/g)].map(([, size]) => Number(size));
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(12);
  expect(Number(/ width="(\d+)"/.exec(svg)?.[1])).toBeLessThanOrEqual(480);
  expect(svg).toMatch(/>\d[\d,.]* ×</);
  expect(svg).not.toMatch(/NaN|undefined/);
});

function result(method: string, median: number) {
  const at = { suite: "headers-clear", workload: "real", unit: "ns" };
  return { ...at, method, median, min: median, max: median };
}
