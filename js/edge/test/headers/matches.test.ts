import { explainField, HeaderStripper } from "hedgerow";
import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { MAX_RULE_LENGTH, TOKEN_CHARACTERS } from "../../../../tests/support/tokens.js";
import { options, rulesAndNames } from "../support/generate.js";
import { ESSENTIAL, Oracle } from "../support/oracle.js";

test("a name matches if and only if a rule matches it, on every call", () => {
  const property = fc.property(rulesAndNames, ({ rules, names }) => {
    using stripper = new HeaderStripper(rules);
    const oracle = new Oracle(rules);
    const expected = names.filter((name) => oracle.matches(name));
    for (const _ of ["first", "again"]) {
      expect(names.filter((name) => stripper.matches(name))).toEqual(expected);
    }
  });
  fc.assert(property, { numRuns: 600 });
});

test("a name is stripped if a rule matches it, or with an allow-list if none does", () => {
  const property = fc.property(rulesAndNames, options, ({ rules, names }, options) => {
    using stripper = new HeaderStripper(rules, options);
    const oracle = new Oracle(rules, options);
    const all = [...names, ...names.map((name) => `:${name}`)];
    expect(all.filter((name) => stripper.strips(name))).toEqual(
      all.filter((name) => oracle.strips(name)),
    );
    expect(all.filter((name) => stripper.matches(name))).toEqual(
      all.filter((name) => oracle.matches(name)),
    );
  });
  fc.assert(property, { numRuns: 600 });
});

test("an explanation names a rule that matches, by itself", () => {
  const property = fc.property(rulesAndNames, options, ({ rules, names }, options) => {
    using stripper = new HeaderStripper(rules, options);
    for (const name of names) {
      const { strips, rule, step, spelling } = explainField(stripper, name);
      expect(strips).toBe(stripper.strips(name));
      expect(rule !== undefined).toBe(stripper.matches(name));
      if (rule === undefined) {
        expect(step).toMatch(/^(probe|compared)$/);
        expect(spelling).toBe(undefined);
      } else {
        expect(step).toBe(rule.endsWith("*") ? "prefix" : "exact");
        expect(new Oracle([rule], options).matches(name)).toBe(true);
        const isExact = new Oracle([rule], { spelling: "exact" }).matches(name);
        expect(spelling).toBe(isExact ? "exact" : "equivalent");
        expect([...rules.map((text) => text.toLowerCase()), ...ESSENTIAL]).toContain(rule);
      }
    }
  });
  fc.assert(property, { numRuns: 300 });
});

test("explains most names that no rule matches by an empty slot", () => {
  using stripper = new HeaderStripper(["x-internal-*", "x-debug"]);
  expect(explainField(stripper, "accept")).toEqual({
    strips: false,
    rule: undefined,
    step: "probe",
    spelling: undefined,
  });
  expect(explainField(stripper, "X-DEBUG")).toMatchObject({ rule: "x-debug", step: "exact" });
  expect(explainField(stripper, "X-Internal-Id")).toMatchObject({
    rule: "x-internal-*",
    step: "prefix",
    spelling: "exact",
  });
  expect(explainField(stripper, "X_Internal.Id")).toEqual({
    ...{ strips: true, rule: "x-internal-*", step: "prefix", spelling: "equivalent" },
  });
  expect(explainField(stripper, "x-devug").step).toBe("compared");
});

test("decides by an empty slot most names that differ from rules only in a number", () => {
  const numbered = (number: number) => `x-rule-${String(number).padStart(2, "0")}-id`;
  const all = Array.from({ length: 100 }, (_, number) => numbered(number));
  using stripper = new HeaderStripper(all.slice(0, 50));
  const steps = all.slice(50).map((name) => explainField(stripper, name).step);
  expect(steps.filter((step) => step === "probe").length).toBeGreaterThan(40);
});

/** Returns a string whose adjacent characters differ. */
const text = (length: number) => "abcdefghijklmnopqrstuvwxyz".repeat(12).slice(0, length);
const LENGTHS = Array.from({ length: MAX_RULE_LENGTH }, (_, index) => index + 1);

test("a name rule of any length matches no name one character shorter or longer", () => {
  const wrong = LENGTHS.filter((length) => {
    using stripper = new HeaderStripper([text(length)]);
    const isRight =
      stripper.matches(text(length)) &&
      stripper.matches(text(length).toUpperCase()) &&
      !stripper.matches(text(length - 1)) &&
      !stripper.matches(text(length + 1));
    return !isRight;
  });
  expect(wrong).toEqual([]);
});

test("a prefix rule of any length matches the prefix and every longer name", () => {
  const wrong = LENGTHS.filter((length) => {
    using stripper = new HeaderStripper([`${text(length)}*`]);
    const longer = ["", "a", "B", "\u{1f512}", "\ud800", "x".repeat(70_000)];
    const isRight =
      longer.every((end) => stripper.matches(text(length).toUpperCase() + end)) &&
      !stripper.matches(text(length - 1));
    return !isRight;
  });
  expect(wrong).toEqual([]);
});

test("a name that differs in any one character does not match", () => {
  for (const length of [1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 65, 256]) {
    const rule = TOKEN_CHARACTERS.repeat(4).slice(0, length);
    using exact = new HeaderStripper([rule]);
    using prefix = new HeaderStripper([`${rule}*`]);
    const oracle = new Oracle([rule]);
    for (let place = 0; place < length; place += 1) {
      const names = Array.from(
        { length: 256 },
        (_, code) => rule.slice(0, place) + String.fromCharCode(code) + rule.slice(place + 1),
      );
      const expected = names.filter((name) => oracle.matches(name));
      expect(names.filter((name) => exact.matches(name))).toEqual(expected);
      expect(names.filter((name) => prefix.matches(name))).toEqual(expected);
    }
  }
});

test("every rule of a large set matches, and similar names do not", () => {
  const prefixes = Array.from({ length: 500 }, (_, number) => `x-${number + 1000}-*`);
  const names = Array.from({ length: 5000 }, (_, number) => `name-${number.toString(16)}`);
  using stripper = new HeaderStripper([...prefixes, ...names]);
  const found = (candidates: string[]) => candidates.filter((name) => stripper.matches(name));
  const beginnings = prefixes.map((prefix) => prefix.slice(0, -1));
  expect(found(names)).toEqual(names);
  expect(found(names.map((name) => `${name}+`))).toEqual([]);
  expect(found(beginnings.map((name) => `${name}+`))).toHaveLength(prefixes.length);
  expect(found([...names, ...beginnings].map((name) => `+${name}`))).toEqual([]);
});
