/** docs/benchmarks.md, its charts and README's figures are what the records say, and nobody's memory of them. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { outcomeOf } from "../../bench/report/claims/claim.mjs";
import { CLAIMS } from "../../bench/report/claims/index.mjs";
import { figuresOf } from "../../bench/report/figures.mjs";
import { chartsKept, reported } from "../../bench/report/index.mjs";
import { make } from "../../bench/report/made.mjs";
import { marksIn } from "../../bench/report/marked.mjs";
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

describe("README", () => {
  test.each(CLAIMS)("claims what a record has: $says", (claim) => {
    expect(outcomeOf(claim, figures.find).lacking).toEqual([]);
  });
});
