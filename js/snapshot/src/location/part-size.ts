import { toRead } from "../encode/image-pieces.js";
import type { ImageFile } from "../local/image-file.js";
import { MAX_PARTS, MIN_PART_SIZE } from "../s3/object-store.js";

/** Returns the size of the parts of an object of up to `largest` bytes: `preferred` if that is enough. */
export function partSizeFor(preferred: number, largest: number): number {
  return Math.max(MIN_PART_SIZE, preferred, Math.ceil(largest / MAX_PARTS));
}

/** The most bytes of a manifest and of the headers of frames. */
const MAX_OVERHEAD = 2 ** 27;

/** Returns the largest possible size of a snapshot of an image: see the limits in `docs/vhs.md`. */
export async function largestSnapshot(image: ImageFile, pieceSize: number): Promise<number> {
  const { totalBytes } = toRead(image.size, pieceSize, await image.extents());
  // Data grows by up to a 256th, and zeros shrink to a 32,768th.
  return totalBytes + Math.ceil(totalBytes / 256) + Math.ceil(image.size / 32_768) + MAX_OVERHEAD;
}
