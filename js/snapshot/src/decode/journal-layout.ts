/**
 * The layout of a restore journal: a head that names the snapshot, then one entry for each frame. An entry is
 * zeros until the frame is written to the image, then the BLAKE3 digest of its data.
 */

/** The first bytes of the head: the kind and version of the file. The last are the digest of the snapshot. */
export const MAGIC = "hedgerow restore journal 1\n";

/** The length of the head, in bytes. */
export const HEAD_LENGTH = 64;

/** The length of an entry, in bytes. */
export const ENTRY_LENGTH = 32;

/** Returns the offset of a frame's entry, in bytes. */
export function entryPosition(index: number): number {
  return HEAD_LENGTH + index * ENTRY_LENGTH;
}
