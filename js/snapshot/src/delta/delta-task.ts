/** The tasks of the workers that compress the pieces of a delta, and which bytes these read. */

import { append, type ByteRange, subtract } from "../format/byte-ranges.js";
import { BLOCK_SIZE } from "../format/limits.js";

/** What is known about a range. */
export const RangeKind = {
  /** Its blocks are compared with the base. */
  COMPARED: 0,
  /** Its blocks have changed. The rest of the piece is read to find out if it is zeros. */
  CHANGED: 1,
  /** Its blocks have changed, and the rest of the piece is zeros. */
  AMONG_ZEROS: 2,
  /** Its blocks have changed, and the rest of the piece may be data. */
  AMONG_DATA: 3,
} as const;

/** Blocks of a piece that a delta may have to contain: [start, end). */
export interface TaskRange extends ByteRange {
  kind: (typeof RangeKind)[keyof typeof RangeKind];
  /** Where its bytes are in the file that is read. */
  readonly position: number;
}

/** Pieces of an image that a delta may have to contain. */
export interface DeltaTask {
  /** The candidates in them, in order and divided by pieces: four numbers for each {@link TaskRange}. */
  readonly ranges: Float64Array<ArrayBuffer>;
}

/** Returns the task with some ranges. */
export function taskOf(ranges: readonly TaskRange[]): DeltaTask {
  const numbers = ranges.flatMap(({ start, end, kind, position }) => [start, end, kind, position]);
  return { ranges: Float64Array.from(numbers) };
}

/** Returns the ranges of a task. */
export function rangesOf({ ranges: numbers }: DeltaTask): TaskRange[] {
  const ranges: TaskRange[] = [];
  for (let at = 0; at < numbers.length; at += 4) {
    ranges.push({
      start: numbers[at] as number,
      end: numbers[at + 1] as number,
      kind: numbers[at + 2] as TaskRange["kind"],
      position: numbers[at + 3] as number,
    });
  }
  return ranges;
}

/** The longest gap between two ranges that is read with them, in bytes: another system call takes as long. */
const MAX_GAP = 2 ** 15;

const ZEROS = Buffer.alloc(BLOCK_SIZE);

/** Reads bytes of a piece at an offset in it, and returns them. */
type ReadRange = (start: number, end: number) => Uint8Array;

/** Returns the bytes of a piece of `length` that hold ranges of blocks, in order, with short gaps between these. */
export function toBytes(blocks: readonly ByteRange[], length: number): ByteRange[] {
  const ranges: ByteRange[] = [];
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
export function readImageRanges(
  ranges: readonly ByteRange[],
  length: number,
  read: ReadRange,
): void {
  for (const { start, end } of ranges) read(start, end);
  const rest = subtract([{ start: 0, end: length }], ranges);
  const isData = (bytes: Uint8Array) => !ZEROS.subarray(0, bytes.length).equals(bytes);
  if (rest.some(({ start, end }) => isData(read(start, Math.min(start + BLOCK_SIZE, end))))) return;
  for (const { start, end } of rest) read(start, end);
}
