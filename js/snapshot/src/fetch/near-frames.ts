import type { Frames } from "../format/frames.js";

/** The longest gap between frames that are requested together, in bytes. */
const MAX_GAP = 2 ** 16;

/**
 * Divides frames into those to request together: of one object, near each other, and of at most `maxSize` bytes. Each
 * part is in the order of the file.
 */
export function nearFrames(frames: Frames, wanted: readonly number[], maxSize: number): number[][] {
  const sorted = [...wanted].sort(
    (a, b) => frames.object(a) - frames.object(b) || frames.fileOffset(a) - frames.fileOffset(b),
  );
  const parts: number[][] = [];
  let last: { readonly object: number; readonly start: number; readonly end: number } | undefined;
  for (const frame of sorted) {
    const [object, start] = [frames.object(frame), frames.fileOffset(frame)];
    const end = start + frames.compressedLength(frame);
    const isNear =
      last?.object === object && start - last.end <= MAX_GAP && end - last.start <= maxSize;
    if (last !== undefined && isNear) parts.at(-1)?.push(frame);
    else parts.push([frame]);
    last = { object, start: isNear && last ? last.start : start, end };
  }
  return parts;
}
