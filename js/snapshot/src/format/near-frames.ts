import type { Frames } from "./frames.js";

/** The longest gap between frames that are read together, in bytes: it costs less than another request. */
const MAX_GAP = 2 ** 16;

/** Frames that are read together. */
export interface NearFrames {
  /** The number of their file: see {@link Frames.object}. */
  readonly object: number;
  /** The offset of the first in the file, in bytes. */
  readonly offset: number;
  /** From the first to the end of the last, in bytes. */
  length: number;
  /** In the order of the file. */
  readonly frames: number[];
}

/**
 * Divides frames into those to read together: of one file, with gaps of at most `maxGap` bytes, and of at most
 * `maxLength` bytes unless a frame is longer.
 */
export function nearFrames(
  frames: Frames,
  wanted: Iterable<number>,
  maxLength: number,
  maxGap = MAX_GAP,
): NearFrames[] {
  const sorted = [...wanted].sort(
    (a, b) => frames.object(a) - frames.object(b) || frames.fileOffset(a) - frames.fileOffset(b),
  );
  const parts: NearFrames[] = [];
  for (const frame of sorted) {
    const [object, offset] = [frames.object(frame), frames.fileOffset(frame)];
    const end = offset + frames.compressedLength(frame);
    const last = parts.at(-1);
    const isNear =
      last?.object === object &&
      offset - (last.offset + last.length) <= maxGap &&
      end - last.offset <= maxLength;
    if (isNear) {
      last.length = Math.max(last.length, end - last.offset);
      last.frames.push(frame);
    } else {
      parts.push({ object, offset, length: end - offset, frames: [frame] });
    }
  }
  return parts;
}
