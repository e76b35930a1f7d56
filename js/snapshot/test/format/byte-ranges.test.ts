/** Sets of bytes, compared with sets of numbers. */

import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";

import { candidatesOf } from "../../src/delta/detect.js";
import { BlockSet } from "../../src/format/block-set.js";
import {
  difference,
  intersect,
  lengthOf,
  narrow,
  subtract,
  toSet,
  union,
  widen,
} from "../../src/format/byte-ranges.js";
import { BLOCK_SIZE } from "../../src/format/limits.js";

const SIZE = 60;

interface Range {
  readonly start: number;
  readonly end: number;
}

const ranges = fc
  .array(fc.tuple(fc.nat(SIZE), fc.nat(SIZE)), { maxLength: 8 })
  .map((pairs) => pairs.map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) })));

/** Returns the numbers in ranges. */
function numbers(set: readonly Range[], size = Infinity): Set<number> {
  const found = new Set<number>();
  for (const { start, end } of set)
    for (let at = start; at < Math.min(end, size); at += 1) found.add(at);
  return found;
}

/** Checks that extents are in order, neither empty nor adjacent, and hold these numbers. */
function expectSet(set: readonly Range[], expected: ReadonlySet<number>): void {
  for (const [at, { start, end }] of set.entries()) {
    expect(start).toBeLessThan(end);
    expect(start).toBeGreaterThan(set[at - 1]?.end ?? -1);
  }
  expect(numbers(set)).toEqual(expected);
  expect(lengthOf(set)).toBe(expected.size);
}

test("sorts, joins and cuts ranges", () => {
  fc.assert(
    fc.property(ranges, fc.nat(SIZE), (one, size) => {
      expectSet(toSet(one, size), numbers(one, size));
    }),
  );
});

test("combines sets as sets of numbers are combined", () => {
  fc.assert(
    fc.property(ranges, ranges, (left, right) => {
      const [one, other] = [toSet(left, SIZE), toSet(right, SIZE)];
      const [a, b] = [numbers(one), numbers(other)];
      expectSet(union(one, other), new Set([...a, ...b]));
      expectSet(intersect(one, other), new Set([...a].filter((at) => b.has(at))));
      expectSet(subtract(one, other), new Set([...a].filter((at) => !b.has(at))));
    }),
  );
});

/** Extents in order, which may be adjacent. */
const disjoint = fc
  .uniqueArray(fc.nat(SIZE), { maxLength: 16 })
  .map((ends) => ends.toSorted((a, b) => a - b))
  .chain((ends) => {
    const between = ends.slice(1).map((end, at) => ({ start: ends[at]!, end }));
    return fc.subarray(between);
  });

test("yields every byte of extents that is in none of others, once", () => {
  fc.assert(
    fc.property(disjoint, disjoint, (one, other) => {
      const found = [...difference(one, other)];
      const others = numbers(other);
      const expected = [...numbers(one)].filter((at) => !others.has(at));
      expect(found.flatMap((extent) => [...numbers([extent])])).toEqual(expected);
      for (const { start, end } of found) expect(start).toBeLessThan(end);
    }),
  );
});

test("widens sets to whole units up to the end", () => {
  fc.assert(
    fc.property(ranges, fc.integer({ min: 1, max: 9 }), fc.nat(SIZE), (given, unit, size) => {
      const one = toSet(given, size);
      const units = new Set([...numbers(one)].map((at) => Math.floor(at / unit)));
      const all = Array.from({ length: size }, (_, at) => at);
      const expected = new Set(all.filter((at) => units.has(Math.floor(at / unit))));
      expectSet(widen(one, unit, size), expected);
    }),
  );
});

test("narrows sets to whole units", () => {
  fc.assert(
    fc.property(ranges, fc.integer({ min: 1, max: 9 }), (given, unit) => {
      const one = toSet(given, SIZE);
      const all = numbers(one);
      const isWhole = (at: number) => {
        const first = at - (at % unit);
        return Array.from({ length: unit }, (_, next) => first + next).every((it) => all.has(it));
      };
      expectSet(narrow(one, unit), new Set([...all].filter(isWhole)));
    }),
  );
});

test("covers blocks once, and compares those that did not change for certain", () => {
  fc.assert(
    fc.property(ranges, ranges, fc.nat(SIZE * 1000), (left, right, size) => {
      const scaled = (set: readonly Range[]) =>
        toSet(
          set.map(({ start, end }) => ({ start: start * 1000, end: end * 1000 })),
          size,
        );
      const [certain, possible] = [scaled(left), scaled(right)];
      const blocks = (set: readonly Range[]) =>
        new Set(Array.from(numbers(set), (at) => Math.floor(at / 4096)));
      const candidates = candidatesOf(size, certain, possible);
      expect(numbers(candidates).size).toBe(lengthOf(candidates));
      const [compared, forced] = [true, false].map((isCompared) =>
        blocks(candidates.filter((candidate) => candidate.isCompared === isCompared)),
      );
      expect(forced).toEqual(blocks(certain));
      const rest = [...blocks(possible)].filter((block) => !forced!.has(block));
      expect(compared).toEqual(new Set(rest));
    }),
    { numRuns: 50 },
  );
});

test("a set of blocks can have the last ones of the largest image", () => {
  const size = 2 ** 44;
  const [set, count] = [BlockSet.of(size), size / BLOCK_SIZE];
  set.add(count - 16, count);
  const last = { start: size - 16 * BLOCK_SIZE, end: size };
  expect([...set.runs(size - 2 ** 20, size)]).toEqual([last]);
});
