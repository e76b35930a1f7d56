/** Reads the ranges of pieces that may have changed: scattered changes touch many pieces, and little of each. */

import { BLOCK_SIZE } from "../format/limits.js";
import { append, type Extent, subtract } from "../local/extents.js";

/** The longest gap between two ranges that is read with them, in bytes: another system call takes as long. */
const MAX_GAP = 2 ** 15;

const ZEROS = Buffer.alloc(BLOCK_SIZE);

/** Reads bytes of a piece at an offset in it, and returns them. */
export type ReadRange = (start: number, end: number) => Uint8Array;

/** Returns the bytes of a piece of `length` that hold ranges of blocks, in order, with short gaps between these. */
export function toBytes(blocks: readonly Extent[], length: number): Extent[] {
  const ranges: Extent[] = [];
  for (const { start, end } of blocks) {
    const range = { start: start * BLOCK_SIZE, end: Math.min(end * BLOCK_SIZE, length) };
    append(ranges, range, MAX_GAP);
  }
  return ranges;
}

/**
 * Reads ranges of a piece of an image. Reads the rest only if the first block of each gap is zeros: the compressor
 * cuts a piece without other data as in a full snapshot.
 */
export function readImageRanges(ranges: readonly Extent[], length: number, read: ReadRange): void {
  for (const { start, end } of ranges) read(start, end);
  const rest = subtract([{ start: 0, end: length }], ranges);
  const isData = (bytes: Uint8Array) => !ZEROS.subarray(0, bytes.length).equals(bytes);
  if (rest.some(({ start, end }) => isData(read(start, Math.min(start + BLOCK_SIZE, end))))) return;
  for (const { start, end } of rest) read(start, end);
}
