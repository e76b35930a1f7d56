/** docs/benchmarks.md, its charts and the figures of the README are generated from the records. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CLAIMS, outcomeOf } from "../../bench/report/claims.mjs";
import { outcomes } from "../../bench/report/comparison.mjs";
import { figuresOf } from "../../bench/report/figures.mjs";
import { generate, sectionsOf } from "../../bench/report/generate.mjs";
import { chartNames, marksIn, reported } from "../../bench/report/index.mjs";
import { bestAlternative, HEADLINES } from "../../bench/report/readme.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { kept } from "./support/records.js";

const MEND = "run: npm run bench -- report";

const figures = figuresOf(kept);
const text = (file: string) => readFileSync(inRoot(file), "utf8");

describe("docs/benchmarks.md", async () => {
  const contents = await reported([]);
  const { sections, charts } = await generate(figures);
  const document = text("docs/benchmarks.md");

  test.each([...contents])("%s matches the records", (file, content) => {
    expect(text(file), `${file}: ${MEND}`).toBe(content);
  });

  test("has only charts of these records", () => {
    expect(chartNames().toSorted(), MEND).toEqual([...charts.keys()].toSorted());
  });

  test("marks the place of every generated section and of nothing else", () => {
    expect(marksIn(document).toSorted()).toEqual([...sections.keys()].toSorted());
  });

  test("contains times and ratios in generated parts only", () => {
    const prose = document.replaceAll(/<!-- (.+?) -->.*?<!-- \/\1 -->/gs, "");
    expect(prose.match(/\d (?:ns|µs|×|MiB\/s).*/g)).toBeNull();
  });

  test("answers each question first, names its record and says where Hedgerow loses", () => {
    const questions = document.split(/^## /m).filter((section) => /^.+\?\n/.test(section));
    for (const section of questions) {
      const [title] = section.split("\n");
      expect(section, title).toMatch(/^.+\?\n\n<!-- .+ -->\n\n[^<!]+\.\n/);
      expect(section, title).toContain("**Where it loses.**");
      expect(section, title).toContain("*Record: [bench/records/");
      expect(section, title).toContain("![");
    }
    expect(questions.length).toBeGreaterThanOrEqual(12);
    // Every section is a question except the list of records.
    expect(document.match(/^## /gm)).toHaveLength(questions.length + 1);
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
    const times = sectionsOf(figures)
      .flatMap(({ compared }) => compared)
      .filter((comparison) => comparison.suite === suite && comparison.workload === workload)
      .flatMap((comparison) => outcomes(figures, comparison))
      .flatMap(({ kind, result }) => (kind === "rival" ? [result.median] : []));
    expect(times.length).toBeGreaterThan(0);
    expect(bestAlternative(claim, figures)?.result?.median).toBe(Math.min(...times));
  });
});
