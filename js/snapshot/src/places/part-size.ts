import { toRead } from "../encode/pieces.js";
import type { ImageFile } from "../local/image-file.js";

/** The smallest part that S3 accepts, except for the last one, in bytes. */
const MIN_PART_SIZE = 5 * 2 ** 20;

/** The largest number of parts of an upload to S3. */
const MAX_PARTS = 10_000;

/** Returns the part size for an object of up to `largest` bytes: `wanted`, or more if that takes too many parts. */
export function partSizeFor(wanted: number, largest: number): number {
  return Math.max(MIN_PART_SIZE, wanted, Math.ceil(largest / MAX_PARTS));
}

/** An upper bound on the manifest, the seek table and the frame headers of a snapshot, in bytes. */
const MAX_METADATA = 2 ** 27;

/** Returns an upper bound on the size of an image's snapshot, by the limits in `docs/vhs.md`. */
export async function largestSnapshot(image: ImageFile, pieceSize: number): Promise<number> {
  const { totalBytes } = toRead(image.size, pieceSize, await image.extents());
  // Incompressible data grows by at most 1/256; zeros take 1/32,768 of their size.
  return totalBytes + Math.ceil(totalBytes / 256) + Math.ceil(image.size / 32_768) + MAX_METADATA;
}
