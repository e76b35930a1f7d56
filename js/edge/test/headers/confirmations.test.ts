import { HeaderStripper } from "hedgerow";
import { expect, test } from "vitest";
import { Random } from "../support/random.js";
import { Confirmations } from "../support/whole.js";

/**
 * Names of one length that differ in their first characters only. The probe looks at a name's length,
 * its middle and its seventh eighth, so it gives all of them one hash.
 */
function alike(length: number, count: number): string[] {
  return Array.from({ length: count }, (_, number) =>
    number.toString(36).padStart(4, "q").padEnd(length, "-m"),
  );
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
  "names of %i characters that share a hash keep their own answers, in any order",
  (length) => {
    const names = alike(length, 100);
    const rules = new Set(names.filter((_, number) => number % 3 === 0));
    using stripper = new HeaderStripper(rules);
    expect(wronglyAnswered(stripper, names, rules)).toEqual([]);
  },
);

test("names of different hashes that share a place keep their own answers", () => {
  // So many names that hashes go far beyond the places that answers are kept in.
  const names = Array.from({ length: 8000 }, (_, number) => `x-${number.toString(7)}-name`);
  const rules = new Set(names.filter((_, number) => number % 2 === 0));
  using stripper = new HeaderStripper(rules);
  expect(wronglyAnswered(stripper, names, rules)).toEqual([]);
});

test("prefixes that share a hash keep their own answers", () => {
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

/** Names are told by whether they begin with an x; counts how often that was asked. */
class CountingRules {
  asked = 0;
  #name = "";

  write(name: string): Uint8Array {
    this.asked += 1;
    this.#name = name;
    return new TextEncoder().encode(name);
  }

  matches(): boolean {
    return this.#name.startsWith("x");
  }
}

test("what was answered is not asked again, for two names of one place", () => {
  const [confirmations, rules] = [new Confirmations(), new CountingRules()];
  // They differ in no character that their place depends on.
  const names = ["x-long-enough", "y-long-enough"];
  for (let round = 0; round < 3; round += 1) {
    expect(names.map((name) => confirmations.get(name, 7, rules))).toEqual([true, false]);
  }
  expect(rules.asked).toBe(2);
});

test("a third name of one place is answered too, and pushes the first out", () => {
  const [confirmations, rules] = [new Confirmations(), new CountingRules()];
  for (const letter of ["x", "y", "z"]) confirmations.get(`${letter}-long-enough`, 7, rules);
  expect(rules.asked).toBe(3);
  confirmations.get("z-long-enough", 7, rules);
  confirmations.get("y-long-enough", 7, rules);
  expect(rules.asked).toBe(3);
  expect(confirmations.get("x-long-enough", 7, rules)).toBe(true);
  expect(rules.asked).toBe(4);
});

test("names of up to 64 bytes are kept, and longer ones are not", () => {
  for (const [name, asked] of [
    ["x".repeat(64), 1],
    ["x".repeat(65), 2],
    ["\u00e9".repeat(32), 1],
    ["\u00e9".repeat(33), 2],
  ] as const) {
    const [confirmations, rules] = [new Confirmations(), new CountingRules()];
    for (let round = 0; round < 2; round += 1) confirmations.get(name, 7, rules);
    expect(rules.asked, name).toBe(asked);
  }
});

test("a byte order mark is a part of the name that it stands before", () => {
  // Made so that the name with the mark and the name without have one place.
  const name = "x-internal-32PVuhi706Qx0vD.RAc5H6zS3FEKjbeaTgkYf1ixBk";
  using stripper = new HeaderStripper(["x-internal-*", "x-debug", "cf-int-*"]);
  expect(stripper.matches(`\ufeff${name}`)).toBe(false);
  expect(stripper.matches(name)).toBe(true);
  expect(stripper.stripRaw([name, "1", "a", "2"])).toEqual(["a", "2"]);
});
