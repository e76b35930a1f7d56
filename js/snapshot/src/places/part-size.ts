import { toRead } from "../encode/pieces.js";
import type { ImageFile } from "../local/image-file.js";

/** The least that S3 takes for a part that is not the last, in bytes. */
const MIN_PART_SIZE = 5 * 2 ** 20;

/** How many parts an object of S3 may have. */
const MAX_PARTS = 10_000;

/** How long the parts must be for an object of any size up to `largest`, `wanted` if that is enough. */
export function partSizeFor(wanted: number, largest: number): number {
  return Math.max(MIN_PART_SIZE, wanted, Math.ceil(largest / MAX_PARTS));
}

/** The end of a snapshot at its longest, and what its frames take besides their bytes, in bytes. */
const FRAMES = 2 ** 27;

/** How many bytes the snapshot of an image has at most: see the limits in `docs/vhs.md`. */
export async function largestSnapshot(image: ImageFile, pieceSize: number): Promise<number> {
  const { totalBytes } = toRead(image.size, pieceSize, await image.extents());
  // Data grows by a 256th at most, and zeros take a 32,768th.
  return totalBytes + Math.ceil(totalBytes / 256) + Math.ceil(image.size / 32_768) + FRAMES;
}
