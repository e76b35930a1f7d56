import type { Frames } from "../format/frames.js";

/** The maximum length of adjacent frames that are read at once, in bytes. A longer frame is read alone. */
const MAX_RANGE_LENGTH = 2 ** 22;

/** Consecutive frames of a file. */
export interface FrameRange {
  /** The number of the file: see {@link Frames.object}. */
  readonly object: number;
  /** Its offset in the file, in bytes. */
  readonly offset: number;
  /** Its length, in bytes. */
  length: number;
  readonly frames: number[];
}

/** Joins frames that are adjacent in a file. */
export function rangesOf(frames: Frames, wanted: Iterable<number>): FrameRange[] {
  const ordered = [...wanted].sort(
    (a, b) => frames.object(a) - frames.object(b) || frames.fileOffset(a) - frames.fileOffset(b),
  );
  const ranges: FrameRange[] = [];
  for (const frame of ordered) {
    const [object, offset] = [frames.object(frame), frames.fileOffset(frame)];
    const length = frames.compressedLength(frame);
    const last = ranges.at(-1);
    const isNext = last?.object === object && last.offset + last.length === offset;
    if (isNext && last.length + length <= MAX_RANGE_LENGTH) {
      last.length += length;
      last.frames.push(frame);
    } else {
      ranges.push({ object, offset, length, frames: [frame] });
    }
  }
  return ranges;
}
