import type { Extent } from "./local/data-extents.js";

/** A stretch of an image: a piece to be read, or zeros. */
export interface Stretch {
  readonly offset: number;
  readonly length: number;
  readonly isZero: boolean;
}

/** The longest stretch of zeros, in bytes: its frames take 2 MiB in the snapshot. */
const MAX_ZEROS = 2 ** 36;

/**
 * Cuts an image into pieces, each `pieceSize` bytes from a multiple of it, or what is left at the end.
 * Pieces that touch no extent are zeros, and need not be read.
 */
export function* pieces(
  imageSize: number,
  pieceSize: number,
  extents: readonly Extent[],
): Generator<Stretch> {
  let offset = 0;
  for (const { start, end } of extents) {
    const first = start - (start % pieceSize);
    yield* zerosTo(offset, first);
    offset = Math.max(offset, first);
    for (; offset < end; offset += pieceSize) {
      yield { offset, length: Math.min(pieceSize, imageSize - offset), isZero: false };
    }
  }
  yield* zerosTo(offset, imageSize);
}

function* zerosTo(start: number, end: number): Generator<Stretch> {
  for (let offset = start; offset < end; offset += MAX_ZEROS) {
    yield { offset, length: Math.min(MAX_ZEROS, end - offset), isZero: true };
  }
}
