/** The regression guard: how it compares figures with the record and reports differences. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { accepted, differences, explain, TOLERANCE } from "../../scripts/guard/compare.mjs";

const RECORD = new URL("../../bench/guard/record.json", import.meta.url);

const record: { machine: Record<string, string>; figures: Record<string, number> } = JSON.parse(
  readFileSync(RECORD, "utf8"),
);
const names = Object.keys(record.figures);
const name = names[0] ?? "";
const recorded = record.figures[name] ?? 0;

/** Returns the recorded figures with one of them scaled. */
const withScaledFigure = (factor: number) => ({ ...record.figures, [name]: recorded * factor });

const report = (figures: Record<string, number>, here = record.machine) =>
  explain(differences(record.figures, figures), record.machine, here);

test("covers every hot path and every module in its record", () => {
  const kinds = names.map((name) => name.split(/: |, /)[0]);
  expect(new Set(kinds)).toEqual(
    new Set([
      ...["headers", "paths", "snapshot"],
      ...["paths.wasm", "block.wasm", "build.wasm", "decode.wasm", "encode.wasm"],
    ]),
  );
  expect(Object.values(record.figures).every((figure) => figure > 0)).toBe(true);
});

test("finds no differences in the recorded figures", () => {
  expect(differences(record.figures, record.figures)).toEqual([]);
});

test.each([1 + TOLERANCE, 1 - TOLERANCE])(
  "tolerates a figure that is %f times the recorded one",
  (factor) => {
    const found = { a: 1000 * factor };
    expect(differences({ a: 1000 }, found)).toEqual([]);
  },
);

test.each(names)("finds a regression of 4 %% in %s", (name) => {
  const recorded = record.figures[name] ?? 0;
  const found = { ...record.figures, [name]: recorded * 1.04 };
  expect(differences(record.figures, found)).toEqual([
    { name, recorded, found: recorded * 1.04, verdict: "worse" },
  ]);
});

test("reports both figures, their ratio, and the command that accepts the change", () => {
  const text = report(withScaledFigure(1.05));
  expect(text).toContain(recorded.toLocaleString("en"));
  expect(text).toContain((recorded * 1.05).toLocaleString("en"));
  expect(text).toContain("(1.050 ×): worse");
  expect(text).toContain("npm run guard -- --accept");
  expect(text).not.toContain("all of them are better");
});

test("reports an improvement as better, which also has to be accepted", () => {
  const text = report(withScaledFigure(0.9));
  expect(text).toContain("(0.900 ×): better");
  expect(text).toContain("all of them are better");
});

test("reports new and missing figures as differences", () => {
  const { [name]: _, ...rest } = record.figures;
  expect(differences(record.figures, { ...rest, "another path": 7 })).toEqual([
    { name, recorded, found: undefined, verdict: "gone" },
    { name: "another path", recorded: undefined, found: 7, verdict: "new" },
  ]);
});

test("reports how the machine differs from that of the record", () => {
  const here = { ...record.machine, Rust: "1.0.0" };
  const text = report(withScaledFigure(1.05), here);
  expect(text).toContain(`this is Rust 1.0.0, recorded with ${record.machine.Rust}`);
  expect(report(withScaledFigure(1.05))).not.toContain("recorded with");
});

test("finds the sum of small regressions although each of them was accepted", () => {
  let figures: Record<string, number> = { a: 1000, b: 1000 };
  figures = accepted(figures, { a: 1020, b: 2000 });
  expect(figures).toEqual({ a: 1000, b: 2000 });
  expect(differences(figures, { a: 1040, b: 2000 })).toHaveLength(1);
});
