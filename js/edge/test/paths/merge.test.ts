/** Properties of merging, over random paths, partitions and options. */

import { buildPathFilter, mergePathFilters, PathFilter, type PathFilterOptions } from "hedgerow";
import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { trials } from "../../../../tests/support/trials.js";

const numRuns = trials({ few: 50, all: 1000 });

const options: fc.Arbitrary<PathFilterOptions> = fc.record({
  falsePositiveRate: fc.constantFrom(0.5, 1e-2, 1e-4, 1e-7),
  seed: fc.maxSafeNat(),
  sizing: fc.constantFrom("promised" as const, "classic" as const),
  version: fc.string({ maxLength: 20, unit: "binary" }),
});

const path = fc.oneof(
  fc.webPath(),
  fc.webPath().map((text) => `${text}/*`),
  fc.string({ unit: "binary", maxLength: 40 }),
);

/** Different paths, each with the number of a part. */
const partition = fc
  .uniqueArray(path, { maxLength: 60, selector: (text) => Buffer.from(text).toString("hex") })
  .chain((paths) =>
    fc.tuple(fc.constant(paths), fc.integer({ min: 1, max: 5 })).chain(([all, count]) =>
      fc.tuple(
        fc.constant(all),
        fc.constant(count),
        fc.array(fc.nat(count - 1), {
          minLength: all.length,
          maxLength: all.length,
        }),
      ),
    ),
  )
  .map(([all, count, places]) => ({
    all,
    parts: Array.from({ length: count }, (_, part) =>
      all.filter((_, index) => places[index] === part),
    ),
  }));

const digest = (file: Uint8Array) => Buffer.from(file).toString("latin1");

test("any partition of paths merges to the filter built in one go", () => {
  const property = fc.property(options, partition, fc.nat(50), (given, { all, parts }, spare) => {
    const sized = { ...given, capacity: all.length + spare + 1 };
    const files = parts.map((part) => buildPathFilter(part, sized));
    expect(digest(mergePathFilters(files))).toBe(digest(buildPathFilter(all, sized)));
  });
  fc.assert(property, { numRuns });
});

test("a merged filter has every path of parts that overlap, in any order and grouping", () => {
  const lists = fc.array(fc.array(path, { maxLength: 20 }), { minLength: 2, maxLength: 5 });
  const property = fc.property(options, lists, fc.nat(), (given, parts, random) => {
    const files = parts.map((part) => buildPathFilter(part, { ...given, capacity: 20 }));
    const merged = mergePathFilters(files);
    const filter = PathFilter.parse(merged);
    expect(parts.flat().every((one) => filter.has(one))).toBe(true);
    filter.free();
    const at = 1 + (random % (files.length - 1));
    const halves = [files.slice(at), files.slice(0, at)].map((some) => mergePathFilters(some));
    expect(digest(mergePathFilters(halves))).toBe(digest(merged));
  });
  fc.assert(property, { numRuns });
});
