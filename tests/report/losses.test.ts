/** The report names losses and missing results as the records have them. */
import { describe, expect, test } from "vitest";

import { figuresOf } from "../../bench/report/figures.mjs";
import { ratio, withUnit } from "../../bench/report/format.mjs";
import { generate } from "../../bench/report/generate.mjs";
import { record, result } from "./support/records.js";

/** Returns the parts of a report as `section: part`. */
async function partsOf(...records: ReturnType<typeof record>[]) {
  const { sections } = await generate(figuresOf(records));
  return new Map(
    [...sections].flatMap(([section, parts]) =>
      [...parts].map(([name, part]) => [`${section}: ${name}`, part] as const),
    ),
  );
}

describe("the report", () => {
  test("lists each faster rival with its ratio and place", async () => {
    const parts = await partsOf(record([result("hedgerow", 200), result("trie-hard", 150)]));
    expect(parts.get("stripping: losses")).toContain("- trie-hard: 0.75 × (maps of `real`)");
    expect(parts.get("stripping: native")).toContain("| trie-hard | 150 (**0.75**) |");
  });

  test("counts more hits as better", async () => {
    const at = {
      suite: "cache-node20, hit rate",
      workload: "Zipf, exponent 1, 5 % of the bytes",
      unit: "%",
    };
    const parts = await partsOf(
      record([
        result("hedgerow", 30, at),
        result("first in, first out", 33, at),
        result("lru-cache, by bytes", 27, at),
      ]),
    );
    expect(parts.get("hit rates: losses")).toContain("first in, first out: 1.10 ×");
    expect(parts.get("hit rates: losses")).not.toContain("lru-cache");
  });

  test("reports no losses only if rivals were measured", async () => {
    const won = await partsOf(record([result("hedgerow", 100), result("trie-hard", 150)]));
    expect(won.get("stripping: losses")).toContain("Nowhere");
    const alone = await partsOf(record([result("hedgerow", 100)]));
    expect(alone.get("stripping: losses")).toContain("No rival is in this record");
  });

  test("names missing results where they belong", async () => {
    const parts = await partsOf(record([result("hedgerow", 100), result("trie-hard", 150)]));
    expect(parts.get("stripping: native")).toMatch(/Not in this record: `uniform`; `near`; .*phf/);
    expect(parts.get("codec: frames")).toBe(
      "Not in this record: decode; compress, level 3; digest.\n",
    );
    expect(parts.get("codec: answer")).toMatch(
      /^Not in this record: snapshot-codec \| decode 1 MiB/,
    );
    expect(parts.get("codec: record")).toContain("No record has the suite `snapshot`");
  });

  test("compares results of the newest record of a suite only", async () => {
    const old = record([result("hedgerow", 999), result("phf", 999)], { date: "2026-01-01" });
    const young = record([result("hedgerow", 100), result("trie-hard", 150)]);
    for (const records of [
      [old, young],
      [young, old],
    ]) {
      const table = (await partsOf(...records)).get("stripping: native");
      expect(table).toContain("| **hedgerow** | 100 |");
      expect(table).not.toContain("999");
    }
  });

  test("marks figures of a smoke run", async () => {
    const smoke = record([result("hedgerow", 100)], { quick: true });
    const parts = await partsOf(smoke);
    expect(parts.get("stripping: record")).toContain("smoke run");
  });

  test("formats figures with units and three significant digits", () => {
    expect(withUnit(4392, "ns")).toBe("4.39 µs");
    expect(withUnit(161_900, "bytes")).toBe("162 kB");
    expect([ratio(0.9996), ratio(0.97), ratio(15.14), ratio(17_522)]).toEqual([
      ...["0.99960 ×", "0.97 ×", "15.1 ×", "17,522 ×"],
    ]);
  });
});
