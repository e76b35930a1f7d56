/** docs/benchmarks.md, its charts and the figures of the README are generated from the records. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { outcomeOf } from "../../bench/report/claims/claim.mjs";
import { CLAIMS } from "../../bench/report/claims/index.mjs";
import { figuresOf } from "../../bench/report/figures.mjs";
import { generate } from "../../bench/report/generate.mjs";
import { chartNames, reported } from "../../bench/report/index.mjs";
import { marksIn } from "../../bench/report/marked.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { kept } from "./support/records.js";

const MEND = "run: npm run bench -- report";

const figures = figuresOf(kept);
const text = (file: string) => readFileSync(inRoot(file), "utf8");

describe("docs/benchmarks.md", async () => {
  const contents = await reported([]);
  const { parts, charts } = await generate(figures);
  const document = text("docs/benchmarks.md");

  test.each([...contents])("%s matches the records", (file, content) => {
    expect(text(file), `${file}: ${MEND}`).toBe(content);
  });

  test("has only charts of these records", () => {
    expect(chartNames().toSorted(), MEND).toEqual([...charts.keys()].toSorted());
  });

  test("marks the place of every generated part and of nothing else", () => {
    expect(marksIn(document).toSorted()).toEqual([...parts.keys()].toSorted());
  });

  test("contains times and ratios in generated parts only", () => {
    const prose = document.replaceAll(/<!-- (.+?) -->.*?<!-- \/\1 -->/gs, "");
    expect(prose.match(/\d (?:ns|µs|×|MiB\/s).*/g)).toBeNull();
  });

  test("answers each question first, names its record and says where Hedgerow loses", () => {
    const sections = document.split(/^## /m).filter((section) => /^.+\?\n/.test(section));
    for (const section of sections) {
      const [title] = section.split("\n");
      expect(section, title).toMatch(/^.+\?\n\n<!-- .+: answer -->\n\n[^<]+\.\n/);
      expect(section, title).toContain("**Where it loses.**");
      expect(section, title).toContain("*Record: [bench/records/");
      expect(section, title).toContain("![");
    }
    expect(sections.length).toBeGreaterThanOrEqual(12);
    // Every section is a question except the list of records.
    expect(document.match(/^## /gm)).toHaveLength(sections.length + 1);
  });
});

describe("the README", () => {
  test.each(CLAIMS)("makes a claim that a record supports: $says", (claim) => {
    expect(outcomeOf(claim, figures.find).lacking).toEqual([]);
  });
});
