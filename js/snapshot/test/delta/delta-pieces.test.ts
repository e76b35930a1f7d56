/** The pieces of a delta are divided into tasks that hold a bounded number of blocks each. */
import { expect, test } from "vitest";

import fc from "../../../../tests/support/fast-check.js";
import { deltaTasks } from "../../src/delta/delta-pieces.js";
import { RangeKind, rangesOf } from "../../src/delta/delta-task.js";

const BLOCK = 4096;

/** Candidates in blocks, in order and apart; every other one is compared. */
const candidates = fc
  .uniqueArray(fc.nat(600), { minLength: 2, maxLength: 60 })
  .map((bounds) => bounds.toSorted((a, b) => a - b))
  .map((bounds) =>
    Array.from({ length: bounds.length >> 1 }, (_, at) => ({
      start: bounds[2 * at]! * BLOCK,
      end: bounds[2 * at + 1]! * BLOCK,
      isCompared: at % 2 === 1,
      position: at * 1000,
    })),
  );

/** Returns the blocks of a range, each with its kind and the position of its bytes. */
const blocksOf = (start: number, end: number, kind: number, position: number) =>
  Array.from({ length: end - start }, (_, at) => [start + at, kind, position + at * BLOCK]);

test("every block of a candidate is in one range, which is within one piece, in one task", () => {
  fc.assert(
    fc.property(candidates, fc.constantFrom(1, 16, 256), (wanted, blocksPerPiece) => {
      const pieceSize = blocksPerPiece * BLOCK;
      const tasks = [...deltaTasks(600 * BLOCK, pieceSize, { candidates: wanted })];
      const expected = wanted.flatMap(({ start, end, isCompared, position }) =>
        blocksOf(
          start / BLOCK,
          end / BLOCK,
          isCompared ? RangeKind.COMPARED : RangeKind.CHANGED,
          position,
        ),
      );
      const found = tasks.flatMap(rangesOf);
      const blocks = found.flatMap((range) =>
        blocksOf(range.start, range.end, range.kind, range.position),
      );
      expect(blocks).toEqual(expected);
      const pieceOf = (block: number) => Math.floor(block / blocksPerPiece);
      expect(found.every(({ start, end }) => pieceOf(start) === pieceOf(end - 1))).toBe(true);
      const lastPieces = tasks.map((task) => pieceOf(rangesOf(task).at(-1)!.end - 1));
      expect(new Set(lastPieces).size).toBe(tasks.length);
    }),
  );
});

test("a task has the pieces with 1 MiB of candidates, or 1,024 ranges, or one piece", () => {
  const single = (count: number, step: number) =>
    Array.from({ length: count }, (_, at) => ({
      ...{ start: at * step, end: at * step + BLOCK, isCompared: false },
    }));
  const sizes = (pieceSize: number, count: number, step: number) => {
    const tasks = deltaTasks(2 ** 40, pieceSize, { candidates: single(count, step) });
    return [...tasks].map((task) => rangesOf(task).length);
  };
  expect(sizes(BLOCK, 600, 2 * BLOCK)).toEqual([256, 256, 88]);
  expect(sizes(2 ** 20, 600, 2 ** 20)).toEqual([256, 256, 88]);
  expect(sizes(2 ** 24, 4096, 2 * BLOCK)).toEqual([2048, 2048]);
});

test("the rest of a piece is data if any of it may be, when only candidates can be read", () => {
  const pieceSize = 4 * BLOCK;
  const at = (block: number) => ({
    start: block * BLOCK,
    end: (block + 1) * BLOCK,
    isCompared: false,
  });
  const asked: string[] = [];
  const mayHoldData = (start: number, end: number) => {
    asked.push(`${start / BLOCK}-${end / BLOCK}`);
    return start === 6 * BLOCK;
  };
  // The image ends in the third piece.
  const tasks = deltaTasks(9 * BLOCK, pieceSize, {
    candidates: [at(1), at(5), at(7), at(8)],
    mayHoldData,
  });
  expect([...tasks].flatMap(rangesOf).map(({ kind }) => kind)).toEqual([
    RangeKind.AMONG_ZEROS,
    RangeKind.AMONG_DATA,
    RangeKind.AMONG_DATA,
    RangeKind.AMONG_ZEROS,
  ]);
  expect(asked).toEqual(["0-1", "2-4", "4-5", "6-7"]);
});
