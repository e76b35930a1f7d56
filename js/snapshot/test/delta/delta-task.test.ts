/** Of a piece, only what its delta is made of is read. */

import { describe, expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";

import { noise } from "../../../../tests/support/snapshots/image.js";
import { readImageRanges, toBytes } from "../../src/delta/delta-task.js";

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
    fc.property(blocks, (wanted) => {
      const ranges = toBytes(wanted, LENGTH);
      for (const { start, end } of wanted) {
        const last = Math.min(end * BLOCK, LENGTH);
        expect(ranges.some((one) => one.start <= start * BLOCK && last <= one.end)).toBe(true);
      }
      for (const [at, { start, end }] of ranges.entries()) {
        expect(end).toBeLessThanOrEqual(LENGTH);
        expect(start - (ranges[at - 1]?.end ?? -Infinity)).toBeGreaterThan(32 * KIB);
        const isWanted = (one: Range) => one.start * BLOCK === start;
        expect(wanted.some(isWanted)).toBe(true);
      }
    }),
  );
});

describe("of an image", () => {
  const wanted = [{ start: 20 * BLOCK, end: 21 * BLOCK }];

  test("reads one more block if that is data", () => {
    const { ranges, read } = reader(noise("a piece", LENGTH));
    readImageRanges(wanted, LENGTH, read);
    expect(ranges).toEqual([...wanted, { start: 0, end: BLOCK }]);
  });

  test("reads everything if the beginnings of all gaps are zeros", () => {
    const bytes = noise("another piece", LENGTH);
    bytes.fill(0, 0, BLOCK);
    bytes.fill(0, 21 * BLOCK, 22 * BLOCK);
    const { ranges, read } = reader(bytes);
    readImageRanges(wanted, LENGTH, read);
    expect(ranges.slice(3)).toEqual([
      { start: 0, end: 20 * BLOCK },
      { start: 21 * BLOCK, end: LENGTH },
    ]);
  });
});
