import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";

import { pieces, toRead } from "../../src/encode/image-pieces.js";

const PIECE = 4096;

/** Images with ordered extents. */
const images = fc
  .record({
    size: fc.nat(40 * PIECE),
    ends: fc.uniqueArray(fc.nat(40 * PIECE), { maxLength: 12 }),
  })
  .map(({ size, ends }) => {
    const sorted = ends.filter((end) => end <= size).sort((a, b) => a - b);
    const extents = [];
    for (let index = 0; index + 1 < sorted.length; index += 2) {
      extents.push({ start: sorted[index] as number, end: sorted[index + 1] as number });
    }
    return { size, extents };
  });

test("covers the image with aligned pieces and reads those that touch an extent", () => {
  fc.assert(
    fc.property(images, ({ size, extents }) => {
      let offset = 0;
      for (const piece of pieces(size, PIECE, extents)) {
        expect(piece.offset).toBe(offset);
        const end = offset + piece.length;
        const isTouched = extents.some((extent) => extent.start < end && extent.end > offset);
        expect(isTouched).toBe(!piece.isZero);
        if (!piece.isZero) {
          expect(piece.length).toBe(Math.min(PIECE, size - offset));
          expect(offset % PIECE).toBe(0);
        }
        offset = end;
      }
      expect(offset).toBe(size);
    }),
  );
});

test("predicts the number and total size of the pieces to read", () => {
  fc.assert(
    fc.property(images, ({ size, extents }) => {
      const read = [...pieces(size, PIECE, extents)].filter(({ isZero }) => !isZero);
      const totalBytes = read.reduce((sum, { length }) => sum + length, 0);
      expect(toRead(size, PIECE, extents)).toEqual({ count: read.length, totalBytes });
    }),
  );
});

test("counts the pieces of the largest image without visiting each", () => {
  const size = 2 ** 44;
  const all = [{ start: 0, end: size }];
  expect(toRead(size, PIECE, all)).toEqual({ count: 2 ** 32, totalBytes: size });
});
