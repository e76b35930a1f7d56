/** Of a piece, only what its delta is made of is read. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { noise } from "../../../../tests/support/snapshots/image.js";
import { partsOf, readBaseParts, readImageParts } from "../../src/delta/read-parts.js";

const BLOCK = 4096;
const KIB = 1024;
const LENGTH = 64 * BLOCK - 100;

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Reads from a buffer, and notes the ranges. */
function reader(bytes: Buffer) {
  const ranges: Range[] = [];
  const read = (start: number, end: number) => {
    ranges.push({ start, end });
    return bytes.subarray(start, end);
  };
  return { ranges, read };
}

/** Ranges of blocks, in order. */
const blocks = fc
  .uniqueArray(fc.nat(64), { maxLength: 12 })
  .map((bounds) => bounds.toSorted((a, b) => a - b))
  .map((bounds) =>
    Array.from({ length: bounds.length >> 1 }, (_, at) => ({
      start: bounds[2 * at]!,
      end: bounds[2 * at + 1]!,
    })),
  );

test("reads every wanted block, and gaps of at most 32 KiB", () => {
  fc.assert(
    fc.property(blocks, (ranges) => {
      const parts = partsOf(ranges, LENGTH);
      for (const { start, end } of ranges) {
        const last = Math.min(end * BLOCK, LENGTH);
        expect(parts.some((one) => one.start <= start * BLOCK && last <= one.end)).toBe(true);
      }
      for (const [at, { start, end }] of parts.entries()) {
        expect(end).toBeLessThanOrEqual(LENGTH);
        expect(start - (parts[at - 1]?.end ?? -Infinity)).toBeGreaterThan(32 * KIB);
        const isWanted = (one: Range) => one.start * BLOCK === start;
        expect(ranges.some(isWanted)).toBe(true);
      }
    }),
  );
});

describe("of an image", () => {
  const parts = [{ start: 20 * BLOCK, end: 21 * BLOCK }];

  test("reads one more block if that is data", () => {
    const { ranges, read } = reader(noise("a piece", LENGTH));
    readImageParts(parts, LENGTH, read);
    expect(ranges).toEqual([...parts, { start: 0, end: BLOCK }]);
  });

  test("reads everything if the beginnings of all gaps are zeros", () => {
    const bytes = noise("another piece", LENGTH);
    bytes.fill(0, 0, BLOCK);
    bytes.fill(0, 21 * BLOCK, 22 * BLOCK);
    const { ranges, read } = reader(bytes);
    readImageParts(parts, LENGTH, read);
    expect(ranges.slice(3)).toEqual([
      { start: 0, end: 20 * BLOCK },
      { start: 21 * BLOCK, end: LENGTH },
    ]);
  });
});

describe("of a base", () => {
  const parts = [
    { start: 0, end: 2 * BLOCK },
    { start: 20 * BLOCK, end: 21 * BLOCK },
  ];

  test("reads up to the end of the base", () => {
    const { ranges, read } = reader(noise("a base", LENGTH));
    expect(readBaseParts(parts, 20 * BLOCK + 5, read)).toBe(20 * BLOCK + 5);
    expect(ranges).toEqual([parts[0], { start: 20 * BLOCK, end: 20 * BLOCK + 5 }]);
  });

  test("returns where a base ends that is shorter than expected", () => {
    const { read } = reader(noise("a base", BLOCK + 7));
    expect(readBaseParts(parts, LENGTH, read)).toBe(BLOCK + 7);
  });
});
