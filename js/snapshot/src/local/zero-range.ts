import type { FileHandle } from "node:fs/promises";

import type { Frames } from "../format/frames.js";
import { dataExtents } from "./data-extents.js";
import { readFullySync } from "./read-fully.js";
import { writeFullySync } from "./write-fully.js";

const ZEROS = Buffer.alloc(2 ** 18);
const buffer = Buffer.alloc(ZEROS.length);

/** Overwrites a range of an open file with zeros. Ranges that already are zeros are not written, so holes stay. */
export function zeroRangeSync(fd: number, start: number, end: number): void {
  for (let position = start; position < end; position += ZEROS.length) {
    const zeros = ZEROS.subarray(0, Math.min(ZEROS.length, end - position));
    const part = buffer.subarray(0, readFullySync(fd, buffer.subarray(0, zeros.length), position));
    if (!part.equals(zeros)) writeFullySync(fd, zeros, position);
  }
}

/** Overwrites the holes of an image with zeros, whatever an interrupted run has left there. */
export async function zeroHoles({ fd }: FileHandle, frames: Frames, size: number): Promise<void> {
  const extents = (await dataExtents(fd, size)) ?? [{ start: 0, end: size }];
  let index = 0;
  for (const { start, end } of extents) {
    while (index < frames.count && endOf(frames, index) <= start) index += 1;
    for (let at = index; at < frames.count && frames.imageOffset(at) < end; at += 1) {
      if (!frames.isHole(at)) continue;
      zeroRangeSync(fd, Math.max(start, frames.imageOffset(at)), Math.min(end, endOf(frames, at)));
    }
  }
}

const endOf = (frames: Frames, index: number) =>
  frames.imageOffset(index) + frames.rawLength(index);
