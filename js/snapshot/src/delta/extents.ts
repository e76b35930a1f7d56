/** Sets of bytes as extents, in order, not empty and not adjacent. */
import type { Extent } from "../local/data-extents.js";

/** Returns a set of extents. They are sorted and joined, and cut off at `size`. */
export function toSet(extents: readonly Extent[], size: number): Extent[] {
  const isInOrder = extents.every(({ start }, at) => start >= (extents[at - 1]?.start ?? 0));
  const ordered = isInOrder ? extents : [...extents].sort((a, b) => a.start - b.start);
  const set: { start: number; end: number }[] = [];
  for (const extent of ordered) {
    const [start, end] = [extent.start, Math.min(extent.end, size)];
    const previous = set.at(-1);
    if (start >= end) continue;
    if (previous !== undefined && start <= previous.end) previous.end = Math.max(previous.end, end);
    else set.push({ start, end });
  }
  return set;
}

/** Returns a set widened to multiples of `unit`, and cut off at `size`. */
export function widen(set: readonly Extent[], unit: number, size: number): Extent[] {
  const wider = set.map(({ start, end }) => {
    return { start: start - (start % unit), end: Math.ceil(end / unit) * unit };
  });
  return toSet(wider, size);
}

/** Returns the bytes that are in any of some sets. */
export function union(...sets: readonly (readonly Extent[])[]): Extent[] {
  return toSet(sets.flat(), Number.POSITIVE_INFINITY);
}

/** Returns the bytes that are in both sets. */
export function intersect(one: readonly Extent[], other: readonly Extent[]): Extent[] {
  const common: Extent[] = [];
  for (let index = 0, at = 0; index < one.length && at < other.length; ) {
    const [left, right] = [one[index] as Extent, other[at] as Extent];
    const [start, end] = [Math.max(left.start, right.start), Math.min(left.end, right.end)];
    if (start < end) common.push({ start, end });
    if (left.end === end) index += 1;
    else at += 1;
  }
  return common;
}

/** Returns the bytes that are in one set and not in the other. */
export function subtract(one: readonly Extent[], other: readonly Extent[]): Extent[] {
  return intersect(one, complement(other));
}

function complement(set: readonly Extent[]): Extent[] {
  const gaps: Extent[] = [];
  let start = 0;
  for (const extent of set) {
    if (extent.start > start) gaps.push({ start, end: extent.start });
    start = extent.end;
  }
  gaps.push({ start, end: Number.POSITIVE_INFINITY });
  return gaps;
}

/** Returns the number of bytes in a set. */
export function lengthOf(set: readonly Extent[]): number {
  return set.reduce((sum, { start, end }) => sum + end - start, 0);
}
