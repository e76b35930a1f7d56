import { HeaderStripper } from "hedgerow";
import { expect, test } from "vitest";
import { MatchCache } from "../support/bundle.js";
import { Random } from "../support/random.js";

/**
 * Returns names of one length that differ only in their first characters. The probe reads the length, the
 * middle and the seventh eighth of a name, so all of them have the same hash.
 */
function collidingNames(length: number, count: number): string[] {
  return Array.from({ length: count }, (_, number) =>
    number.toString(36).padStart(4, "q").padEnd(length, "-m"),
  );
}

/** Looks names up in random order, and returns those with a wrong result. */
function wrongMatches(stripper: HeaderStripper, names: string[], rules: Set<string>): string[] {
  const random = new Random(names.length);
  const wrong: string[] = [];
  for (let count = 0; count < 50_000; count += 1) {
    const name = random.pick(names);
    const written = random.below(3) === 0 ? name.toUpperCase() : name;
    if (stripper.matches(written) !== rules.has(name)) wrong.push(written);
  }
  return wrong;
}

test.for([13, 32, 63, 64, 65, 100, 256])(
  "a stripper distinguishes names of %i characters that share a hash",
  (length) => {
    const names = collidingNames(length, 100);
    const rules = new Set(names.filter((_, number) => number % 3 === 0));
    using stripper = new HeaderStripper(rules);
    expect(wrongMatches(stripper, names, rules)).toEqual([]);
  },
);

test("a stripper distinguishes names that share a slot of the match cache", () => {
  // More names than the cache has slots.
  const names = Array.from({ length: 8000 }, (_, number) => `x-${number.toString(7)}-name`);
  const rules = new Set(names.filter((_, number) => number % 2 === 0));
  using stripper = new HeaderStripper(rules);
  expect(wrongMatches(stripper, names, rules)).toEqual([]);
});

test("a stripper distinguishes prefixes that share a hash", () => {
  const names = collidingNames(40, 100);
  const matching = new Set(names.filter((_, number) => number % 3 === 0));
  using stripper = new HeaderStripper([...matching].map((name) => `${name.slice(0, -5)}*`));
  expect(wrongMatches(stripper, names, matching)).toEqual([]);
});

test("each stripper has its own match cache", () => {
  const names = collidingNames(20, 2);
  using first = new HeaderStripper(names.slice(0, 1));
  using second = new HeaderStripper(names.slice(1));
  for (const _ of ["first", "again"]) {
    expect(names.map((name) => first.matches(name))).toEqual([true, false]);
    expect(names.map((name) => second.matches(name))).toEqual([false, true]);
  }
});

/** A matcher of names that begin with an x. Counts how many names it was asked for. */
class CountingMatcher {
  calls = 0;
  #name = "";

  write(name: string): Uint8Array {
    this.calls += 1;
    this.#name = name;
    return new TextEncoder().encode(name);
  }

  matches(): boolean {
    return this.#name.startsWith("x");
  }
}

test("the match cache keeps the results of two names that share a slot", () => {
  const [cache, matcher] = [new MatchCache(), new CountingMatcher()];
  // They differ only in characters that do not affect the slot.
  const names = ["x-long-enough", "y-long-enough"];
  for (let round = 0; round < 3; round += 1) {
    expect(names.map((name) => cache.get(name, 7, matcher))).toEqual([true, false]);
  }
  expect(matcher.calls).toBe(2);
});

test("the match cache evicts the first of three names that share a slot", () => {
  const [cache, matcher] = [new MatchCache(), new CountingMatcher()];
  for (const letter of ["x", "y", "z"]) cache.get(`${letter}-long-enough`, 7, matcher);
  expect(matcher.calls).toBe(3);
  cache.get("z-long-enough", 7, matcher);
  cache.get("y-long-enough", 7, matcher);
  expect(matcher.calls).toBe(3);
  expect(cache.get("x-long-enough", 7, matcher)).toBe(true);
  expect(matcher.calls).toBe(4);
});

test("the match cache keeps names of up to 64 bytes, and no longer ones", () => {
  for (const [name, calls] of [
    ["x".repeat(64), 1],
    ["x".repeat(65), 2],
    ["\u00e9".repeat(32), 1],
    ["\u00e9".repeat(33), 2],
  ] as const) {
    const [cache, matcher] = [new MatchCache(), new CountingMatcher()];
    for (let round = 0; round < 2; round += 1) cache.get(name, 7, matcher);
    expect(matcher.calls, name).toBe(calls);
  }
});

test("a stripper treats a byte order mark as part of the name", () => {
  // Chosen so that the names with and without the mark share a slot.
  const name = "x-internal-32PVuhi706Qx0vD.RAc5H6zS3FEKjbeaTgkYf1ixBk";
  using stripper = new HeaderStripper(["x-internal-*", "x-debug", "cf-int-*"]);
  expect(stripper.matches(`\ufeff${name}`)).toBe(false);
  expect(stripper.matches(name)).toBe(true);
  expect(stripper.stripRaw([name, "1", "a", "2"])).toEqual(["a", "2"]);
});
