/** docs/benchmarks.md, its charts and README's figures are generated from the records. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { outcomeOf } from "../../scripts/bench/claims/claim.mjs";
import { CLAIMS } from "../../scripts/bench/claims.mjs";
import { outcomes } from "../../scripts/bench/report/comparison.mjs";
import { figuresOf } from "../../scripts/bench/report/figures.mjs";
import { make } from "../../scripts/bench/report/made.mjs";
import { marksIn } from "../../scripts/bench/report/marked.mjs";
import { bestAlternative, HEADLINES } from "../../scripts/bench/report/readme.mjs";
import { SECTIONS } from "../../scripts/bench/report/sections/index.mjs";
import { chartsKept, reported } from "../../scripts/bench/report.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { kept } from "./support/records.js";

const MEND = "to mend it, run: npm run bench -- report";

const figures = figuresOf(kept);
const text = (file: string) => readFileSync(inRoot(file), "utf8");

describe("the report", async () => {
  const contents = await reported([]);
  const { parts, charts } = await make(figures);
  const document = text("docs/benchmarks.md");

  test.each([...contents])("%s is what the records make", (file, content) => {
    expect(text(file), `${file}: ${MEND}`).toBe(content);
  });

  test("has no chart that is not of these records", () => {
    expect(chartsKept().toSorted(), MEND).toEqual([...charts.keys()].toSorted());
  });

  test("has a place for each part, and no places for others", () => {
    expect(marksIn(document).toSorted()).toEqual([...parts.keys()].toSorted());
  });

  test("has figures of time and ratios between marks only", () => {
    const prose = document.replaceAll(/<!-- (.+?) -->.*?<!-- \/\1 -->/gs, "");
    expect(prose.match(/\d (?:ns|µs|×|MiB\/s).*/g)).toBeNull();
  });

  test("tells of each question where Hedgerow loses, from which record", () => {
    const sections = document.split(/^## /m).slice(1);
    for (const section of sections) {
      const [title] = section.split("\n");
      expect(section, title).toContain("**Where it loses.**");
      expect(section, title).toContain("*Record: [bench/records/");
      expect(section, title).toContain("![");
    }
    expect(sections.length).toBeGreaterThanOrEqual(12);
  });
});

describe("the claims", () => {
  test.each(CLAIMS)("a record has a result for the claim and its alternatives: $label", (claim) => {
    expect(outcomeOf(claim, figures.find).missing).toEqual([]);
  });
});

describe("README's table", () => {
  test("has at most eight rows, at least two of which Hedgerow loses", () => {
    const losses = HEADLINES.filter(
      ({ claim }) => (bestAlternative(claim, figures)?.times ?? Number.NaN) < 1,
    );
    expect(HEADLINES.length).toBeLessThanOrEqual(8);
    expect(losses.length).toBeGreaterThanOrEqual(2);
  });

  test.each(HEADLINES)("compares with the best rival of docs/benchmarks.md: $task", ({ claim }) => {
    const [suite, workload] = claim.key;
    const times = SECTIONS.flatMap((section) => section(figures).compared)
      .filter((comparison) => comparison.suite === suite && comparison.workload === workload)
      .flatMap((comparison) => outcomes(figures, comparison))
      .flatMap(({ kind, result }) => (kind === "rival" ? [result.median] : []));
    expect(times.length).toBeGreaterThan(0);
    expect(bestAlternative(claim, figures)?.result?.median).toBe(Math.min(...times));
  });
});
