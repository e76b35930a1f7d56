/** Charts are read on phones, in dark pages, by programs, and by people who see no colours. */
import { readFileSync } from "node:fs";
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";

import { figuresOf } from "../../bench/report/figures.mjs";
import { make } from "../../bench/report/made.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { changed, kept } from "./support/records.js";

/** The least width of phones, and the most that a chart may have to be read on one. */
const WIDEST = 480;
const SMALLEST_TEXT = 12;

interface Drawn {
  texts: string[];
  sizes: number[];
  fills: string[];
  width: number;
}

/** What an SVG has in it; an error where it is not well-formed. */
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

describe("charts", async () => {
  const { charts } = await make(figuresOf(kept));
  const document = readFileSync(inRoot("docs", "benchmarks.md"), "utf8");

  test("are seven at least", () => {
    expect(charts.size).toBeGreaterThanOrEqual(7);
  });

  test.each([...charts])("%s is well-formed, and can be read on a phone", (_, { svg }) => {
    const { width, sizes, fills } = drawn(svg);
    expect(width).toBeLessThanOrEqual(WIDEST);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(SMALLEST_TEXT);
    expect(fills[0], "the page").toBe("#ffffff");
  });

  test.each([...charts])("%s shows Hedgerow, and a rival beside it", (name, { svg, rivals }) => {
    const { texts } = drawn(svg);
    expect(texts.some((text) => text.startsWith("hedgerow"))).toBe(true);
    expect(rivals.length).toBeGreaterThan(0);
    for (const rival of rivals)
      expect(
        texts.some((text) => text.startsWith(rival)),
        rival,
      ).toBe(true);
    expect(document).toMatch(
      new RegExp(`!\\[[^\\]]*Hedgerow beside [^\\]]+\\]\\(charts/${name}\\)`),
    );
  });

  test("are the same bytes for the same records", async () => {
    const again = await make(figuresOf(kept));
    for (const [name, { svg }] of charts) expect(again.charts.get(name)?.svg, name).toBe(svg);
  });

  test("print a rival that is ahead in another colour", async () => {
    const slow = changed((one) => [
      one.method === "hedgerow" && one.suite === "headers-clear"
        ? { ...one, median: 1e5, min: 1e5, max: 1e5 }
        : one,
    ]);
    const svg = (await make(slow)).charts.get("stripping-native.svg")?.svg ?? "";
    const ahead = /fill="#b3400e"/g;
    expect(svg.match(ahead)?.length).toBe(18);
    expect(charts.get("stripping-native.svg")?.svg.match(ahead)).toBeNull();
  });

  test("are left out, with a word, where a record has no rival", async () => {
    const alone = changed((one) => (one.method.startsWith("hedgerow") ? [one] : []));
    const { parts, charts: left } = await make(alone);
    expect(left.has("stripping-native.svg")).toBe(false);
    expect(parts.get("chart: stripping-native")).toContain("no rival");
  });
});
