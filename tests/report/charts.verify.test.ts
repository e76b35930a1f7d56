/** Charts stay readable on phones, in dark pages, for screen readers and for colour-blind readers. */
import { readFileSync } from "node:fs";
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";

import { figuresOf } from "../../bench/report/figures.mjs";
import { generate } from "../../bench/report/generate.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { changed, kept } from "./support/records.js";

/** The maximum width of a chart on a phone, and the minimum size of its text, in pixels. */
const MAX_WIDTH = 480;
const MIN_TEXT = 12;

interface Drawn {
  texts: string[];
  sizes: number[];
  fills: string[];
  width: number;
}

/** Returns the content of an SVG. Throws if it is not well-formed. */
function drawn(svg: string): Drawn {
  const found: Drawn = { texts: [], sizes: [], fills: [], width: Number.NaN };
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (name === "svg") found.width = Number(attributes.width);
    if (name === "text") found.sizes.push(Number.parseFloat(`${attributes["font-size"]}`));
    if (attributes.fill !== undefined) found.fills.push(`${attributes.fill}`);
  });
  parser.on("text", (text) => {
    if (text.trim() !== "") found.texts.push(text);
  });
  parser.write(svg).close();
  return found;
}

describe("the charts", async () => {
  const { charts } = await generate(figuresOf(kept));
  const document = readFileSync(inRoot("docs", "benchmarks.md"), "utf8");

  test("number at least seven", () => {
    expect(charts.size).toBeGreaterThanOrEqual(7);
  });

  test.each([...charts])("%s is well-formed and fits a phone", (_, { svg }) => {
    const { width, sizes, fills } = drawn(svg);
    expect(width).toBeLessThanOrEqual(MAX_WIDTH);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(MIN_TEXT);
    expect(fills[0], "the page").toBe("#ffffff");
  });

  test.each([...charts])("%s shows Hedgerow and at least one rival", (name, { svg, rivals }) => {
    const { texts } = drawn(svg);
    expect(texts.some((text) => text.startsWith("hedgerow"))).toBe(true);
    expect(rivals.length).toBeGreaterThan(0);
    for (const rival of rivals)
      expect(
        texts.some((text) => text.startsWith(rival)),
        rival,
      ).toBe(true);
    expect(document).toMatch(
      new RegExp(`!\\[[^\\]]*Hedgerow compared with [^\\]]+\\]\\(charts/${name}\\)`),
    );
  });

  test("have the same bytes for the same records", async () => {
    const again = await generate(figuresOf(kept));
    for (const [name, { svg }] of charts) expect(again.charts.get(name)?.svg, name).toBe(svg);
  });

  test("print the ratio of a faster rival in another colour", async () => {
    const slow = changed((one) => [
      one.method === "hedgerow" && one.suite === "headers-clear"
        ? { ...one, median: 1e5, min: 1e5, max: 1e5 }
        : one,
    ]);
    const svg = (await generate(slow)).charts.get("stripping.svg")?.svg ?? "";
    const ahead = /fill="#b3400e"/g;
    expect(svg.match(ahead)?.length).toBe(18);
    expect(charts.get("stripping.svg")?.svg.match(ahead)).toBeNull();
  });

  test("are replaced by a note where a record has no rival", async () => {
    const alone = changed((one) => (one.method.startsWith("hedgerow") ? [one] : []));
    const { sections, charts: left } = await generate(alone);
    expect(left.has("stripping.svg")).toBe(false);
    expect(sections.get("stripping")?.get("chart")).toContain("no rival");
  });
});
