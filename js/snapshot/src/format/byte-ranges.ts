/** Ranges of bytes, and sets of bytes: ranges in order, not empty and not adjacent. */

/** A range of bytes: [start, end). */
export interface ByteRange {
  /** The offset of its first byte. */
  readonly start: number;
  /** The offset of the byte after its last. */
  readonly end: number;
}

/** Adds an extent that begins after the others. Extends the last one instead if the gap has at most `gap` bytes. */
export function append(
  extents: { start: number; end: number }[],
  { start, end }: ByteRange,
  gap = 0,
): void {
  const last = extents.at(-1);
  if (last !== undefined && start - last.end <= gap) last.end = Math.max(last.end, end);
  else extents.push({ start, end });
}

/** Returns a set of extents. They are sorted and joined, and cut off at `size`. */
export function toSet(extents: readonly ByteRange[], size: number): ByteRange[] {
  const isInOrder = extents.every(({ start }, at) => start >= (extents[at - 1]?.start ?? 0));
  const ordered = isInOrder ? extents : [...extents].sort((a, b) => a.start - b.start);
  const set: ByteRange[] = [];
  for (const { start, end } of ordered) {
    if (start < Math.min(end, size)) append(set, { start, end: Math.min(end, size) });
  }
  return set;
}

/** Returns a set widened to multiples of `unit`, and cut off at `size`. */
export function widen(set: readonly ByteRange[], unit: number, size: number): ByteRange[] {
  const wider = set.map(({ start, end }) => {
    return { start: start - (start % unit), end: Math.ceil(end / unit) * unit };
  });
  return toSet(wider, size);
}

/** Returns the whole multiples of `unit` that are in a set. */
export function narrow(set: readonly ByteRange[], unit: number): ByteRange[] {
  return set
    .map(({ start, end }) => {
      return { start: Math.ceil(start / unit) * unit, end: end - (end % unit) };
    })
    .filter(({ start, end }) => start < end);
}

/** Returns the bytes that are in any of some sets. */
export function union(...sets: readonly (readonly ByteRange[])[]): ByteRange[] {
  return toSet(sets.flat(), Number.POSITIVE_INFINITY);
}

/** Returns the bytes that are in both sets. */
export function intersect(one: readonly ByteRange[], other: readonly ByteRange[]): ByteRange[] {
  const common: ByteRange[] = [];
  for (let index = 0, at = 0; index < one.length && at < other.length; ) {
    const left = one[index]!;
    const right = other[at]!;
    const start = Math.max(left.start, right.start);
    const end = Math.min(left.end, right.end);
    if (start < end) common.push({ start, end });
    if (left.end === end) index += 1;
    else at += 1;
  }
  return common;
}

/** Returns the bytes that are in one set and not in the other. */
export function subtract(one: readonly ByteRange[], other: readonly ByteRange[]): ByteRange[] {
  return [...difference(one, other)];
}

/** Yields the bytes that are in one set and not among other extents, which are in order and may be adjacent. */
export function* difference(
  one: Iterable<ByteRange>,
  other: Iterable<ByteRange>,
): Generator<ByteRange> {
  const others = other[Symbol.iterator]();
  let next = others.next();
  for (const { start, end } of one) {
    let done = start;
    while (next.done !== true && next.value.start < end) {
      if (done < next.value.start) yield { start: done, end: next.value.start };
      done = Math.max(done, next.value.end);
      // It may also overlap the extents after this one.
      if (next.value.end > end) break;
      next = others.next();
    }
    if (done < end) yield { start: done, end };
  }
}

/** Returns the number of bytes in a set. */
export function lengthOf(set: Iterable<ByteRange>): number {
  let length = 0;
  for (const { start, end } of set) length += end - start;
  return length;
}
