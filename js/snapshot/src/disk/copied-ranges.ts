/** Where the blocks of a disk are in a copy of them. */
import type { Candidate } from "../delta/delta-pieces.js";
import type { BlockSet } from "../format/block-set.js";
import { lengthOf } from "../format/byte-ranges.js";

/** A range of an image, in bytes, and the position of its bytes in a copy. Its blocks count as changed. */
export interface CopiedRange extends Candidate {
  readonly isCompared: false;
  readonly position: number;
}

const rangeOf = (start: number, end: number, position: number): CopiedRange => ({
  start,
  end,
  isCompared: false,
  position,
});

/**
 * Yields the ranges of blocks, in order.
 *
 * @param size of the image, in bytes
 * @param position of the first, if the copy has one after another: scattered blocks are then read many at a time. Default:
 *   each is where it is in the image
 */
export function* rangesOf(
  blocks: BlockSet,
  size: number,
  position?: number,
): Generator<CopiedRange> {
  for (const { start, end } of blocks.runs(0, size)) {
    yield rangeOf(start, end, position ?? start);
    if (position !== undefined) position += end - start;
  }
}

/**
 * Yields the ranges of two sets of blocks, in order: the copy has those of the `first` set one after another from its
 * beginning, and then those of the `second`, which supersede them.
 */
export function* packedRanges(
  first: BlockSet,
  second: BlockSet,
  size: number,
): Generator<CopiedRange> {
  const all = first.copy();
  all.addBits(second.bytes);
  let [inFirst, inSecond] = [0, lengthOf(first.runs(0, size))];
  for (const run of all.runs(0, size)) {
    let at = run.start;
    for (const { start, end } of second.runs(run.start, run.end)) {
      if (at < start) yield rangeOf(at, start, inFirst);
      yield rangeOf(start, end, inSecond);
      inFirst += start - at + lengthOf(first.runs(start, end));
      inSecond += end - start;
      at = end;
    }
    if (at < run.end) yield rangeOf(at, run.end, inFirst);
    inFirst += run.end - at;
  }
}
