import { HeaderStripper } from "hedgerow";
import { expect, test } from "vitest";
import { Random } from "./support/random.js";

/**
 * Names of one length that begin and end alike. The probe looks at a name's length and at one of
 * the first and one of the last five characters, so it gives all of them one number.
 */
function alike(length: number, count: number): string[] {
  const width = length - 2 * 5;
  return Array.from({ length: count }, (_, number) => {
    const middle = number.toString(36).padStart(width, "m");
    return `begin${middle}-last`;
  });
}

/** Asks for names in random order, and returns those whose answer was wrong. */
function wronglyAnswered(stripper: HeaderStripper, names: string[], rules: Set<string>): string[] {
  const random = new Random(names.length);
  const wrong: string[] = [];
  for (let count = 0; count < 50_000; count += 1) {
    const name = random.pick(names);
    const asked = random.below(3) === 0 ? name.toUpperCase() : name;
    if (stripper.matches(asked) !== rules.has(name)) wrong.push(asked);
  }
  return wrong;
}

test.for([13, 32, 63, 64, 65, 100, 256])(
  "names of %i characters that share a number keep their own answers, in any order",
  (length) => {
    const names = alike(length, 100);
    const rules = new Set(names.filter((_, number) => number % 3 === 0));
    using stripper = new HeaderStripper(rules);
    expect(wronglyAnswered(stripper, names, rules)).toEqual([]);
  },
);

test("names of different numbers that share a place keep their own answers", () => {
  // So many rules that numbers go far beyond the places that answers are kept in.
  const names = Array.from({ length: 8000 }, (_, number) => `x-${number.toString(7)}-name`);
  const rules = new Set(names.filter((_, number) => number % 2 === 0));
  using stripper = new HeaderStripper(rules);
  expect(wronglyAnswered(stripper, names, rules)).toEqual([]);
});

test("prefixes that share a number keep their own answers", () => {
  const names = alike(40, 100);
  const matching = new Set(names.filter((_, number) => number % 3 === 0));
  using stripper = new HeaderStripper([...matching].map((name) => `${name.slice(0, -5)}*`));
  expect(wronglyAnswered(stripper, names, matching)).toEqual([]);
});

test("strippers do not share what they remember", () => {
  const names = alike(20, 2);
  using first = new HeaderStripper(names.slice(0, 1));
  using second = new HeaderStripper(names.slice(1));
  for (const _ of ["first", "again"]) {
    expect(names.map((name) => first.matches(name))).toEqual([true, false]);
    expect(names.map((name) => second.matches(name))).toEqual([false, true]);
  }
});
