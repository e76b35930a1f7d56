/** How the data of a sparse file is divided for copying. */
import type { Extent } from "./data-extents.js";
import { append } from "./extents.js";

/** Granularity at which zeros become holes, in bytes. */
const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);

/** A range of a file that is copied in one step: runs of data and the holes between them. */
export interface CopyWindow {
  readonly start: number;
  end: number;
  readonly runs: Extent[];
}

/**
 * Divides extents into windows: short extents that lie close together share a window of up to `mixedSize`
 * bytes; a window with one run has up to `runSize` bytes.
 */
export function* copyWindows(
  extents: Iterable<Extent>,
  mixedSize: number,
  runSize = mixedSize,
): Generator<CopyWindow> {
  let window: CopyWindow | undefined;
  for (const extent of extents) {
    for (let start = extent.start; start < extent.end; start = window.end) {
      if (window !== undefined && start >= window.start + mixedSize) {
        yield window;
        window = undefined;
      }
      const size: number = window === undefined ? runSize : mixedSize;
      window ??= { start, end: start, runs: [] };
      window.end = Math.min(extent.end, window.start + size);
      window.runs.push({ start, end: window.end });
    }
  }
  if (window !== undefined) yield window;
}

/** Returns the runs of blocks in `bytes`, which lie at `offset`, that are not all zeros. */
export function nonZeroRuns(bytes: Buffer, offset: number): Extent[] {
  const runs: Extent[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK);
    if (block.equals(ZEROS.subarray(0, block.length))) continue;
    append(runs, { start: offset + at, end: offset + at + block.length });
  }
  return runs;
}
