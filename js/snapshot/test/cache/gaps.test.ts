import fc from "fast-check";
import { expect, test } from "vitest";

import { gapsOf } from "../../src/cache/verification/find-damage.js";

const SIZE = 60;

/** Disjoint spans, in order. */
const spans = fc.uniqueArray(fc.nat(SIZE), { maxLength: 16 }).map((ends) => {
  const sorted = ends.sort((one, other) => one - other);
  return Array.from({ length: sorted.length >> 1 }, (_, index) => ({
    start: sorted[2 * index] as number,
    end: sorted[2 * index + 1] as number,
  }));
});

const covers = (all: readonly { start: number; end: number }[], at: number) =>
  all.filter(({ start, end }) => start <= at && at < end).length;

test("yields every byte of the extents that is in no piece, once", () => {
  fc.assert(
    fc.property(spans, spans, (extents, data) => {
      const pieces = data.map(({ start, end }) => ({
        ...{ offset: start, length: end - start, digest: new Uint8Array() },
      }));
      const gaps = [...gapsOf(pieces, SIZE, extents)];
      for (let at = 0; at < SIZE; at += 1) {
        const isGap = covers(extents, at) > 0 && covers(data, at) === 0;
        expect(covers(gaps, at), `${at}`).toBe(isGap ? 1 : 0);
      }
      for (const { start, end } of gaps) expect(start).toBeLessThan(end);
    }),
  );
});

test("yields nothing between adjacent pieces", () => {
  const digest = new Uint8Array();
  const pieces = [0, 4, 8].map((offset) => ({ offset, length: 4, digest }));
  expect([...gapsOf(pieces, 20, [{ start: 0, end: 20 }])]).toEqual([{ start: 12, end: 20 }]);
  expect([...gapsOf(pieces, 12, [{ start: 0, end: 12 }])]).toEqual([]);
  expect([...gapsOf([], 20, [{ start: 3, end: 7 }])]).toEqual([{ start: 3, end: 7 }]);
  expect([...gapsOf(pieces, 20, [])]).toEqual([]);
});
