import type { FileHandle } from "node:fs/promises";

import type { Frames } from "../format/frames.js";
import { dataExtents, type Extent } from "./data-extents.js";
import { difference } from "./extents.js";
import { libc } from "./libc.js";
import { readFullySync } from "./read-fully.js";
import { writeFullySync } from "./write-fully.js";

const ZEROS = Buffer.alloc(2 ** 18);
const buffer = Buffer.alloc(ZEROS.length);

/** Overwrites a range of an open file with zeros. Ranges that already are zeros are not written, so holes stay. */
export function zeroRangeSync(fd: number, start: number, end: number): void {
  for (let position = start; position < end; position += ZEROS.length) {
    const zeros = ZEROS.subarray(0, Math.min(ZEROS.length, end - position));
    const found = buffer.subarray(0, readFullySync(fd, buffer.subarray(0, zeros.length), position));
    if (!found.equals(zeros)) writeFullySync(fd, zeros, position);
  }
}

/** Turns a range of an open file into a hole, or overwrites it with zeros where that is not possible. */
async function clearRange(fd: number, start: number, end: number): Promise<void> {
  const system = await libc();
  if (system !== undefined && (await system.punchHole(fd, start, end - start)) >= 0) return;
  zeroRangeSync(fd, start, end);
}

/**
 * Clears the holes of an image, whatever an interrupted run or a copy has left there.
 *
 * @param kept ranges that stay, in order
 */
export async function zeroHoles(
  { fd }: FileHandle,
  frames: Frames,
  size: number,
  kept: Iterable<Extent> = [],
): Promise<void> {
  const extents = (await dataExtents(fd, size)) ?? [{ start: 0, end: size }];
  for (const { start, end } of difference(difference(extents, frames.extents()), kept)) {
    await clearRange(fd, start, end);
  }
}
