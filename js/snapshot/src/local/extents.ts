/**
 * Sets of bytes as extents, in order, not empty and not adjacent; and the extents of a sparse file that hold data, which
 * its file system knows: holes need not be read.
 */
import { constants } from "node:os";
import { setImmediate } from "node:timers/promises";

import { libc, SEEK_DATA, SEEK_END, SEEK_HOLE } from "./libc.js";

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

/** Maximum number of extents of a file. The last one then reaches to the end of the file. */
const MAX_EXTENTS = 2 ** 20;

/** Extents between yields to the event loop: about 2 ms. */
const YIELD_INTERVAL = 2 ** 10;

/**
 * Returns the extents of an open file that may hold data, in order and not adjacent. Everything outside of
 * them reads as zeros, unless the file is written to meanwhile. Returns undefined if the system cannot
 * tell, or if the file is shorter than `size`.
 *
 * Keep the file open until the promise settles. Its position changes: read with explicit positions.
 * Needs Linux and the optional package `koffi`, because Node has no such call. macOS is left out: APFS has
 * reported data as holes, which corrupted images of QEMU and copies of GNU cp.
 */
export async function dataExtents(
  fd: number,
  size: number,
): Promise<readonly ByteRange[] | undefined> {
  const system = await libc();
  if (system === undefined) return undefined;

  const extents: ByteRange[] = [];
  for (let offset = 0; offset < size; ) {
    const start = system.lseek(fd, offset, SEEK_DATA);
    if (start >= size) break;
    if (start === -constants.errno.ENXIO) {
      // Only a hole follows, unless the file is shorter than `size`.
      if (system.lseek(fd, 0, SEEK_END) < size) return undefined;
      break;
    }
    const isLast = extents.length === MAX_EXTENTS - 1;
    const end = isLast ? size : Math.min(system.lseek(fd, start, SEEK_HOLE), size);
    // Errors are negative; an extent that ends before it starts is a bug of the file system.
    if (start < offset || end <= start) return undefined;

    // Adjacent extents appear when the hole between them is written to.
    append(extents, { start, end });
    offset = end;
    if (extents.length % YIELD_INTERVAL === 0) await setImmediate();
  }
  return extents;
}
