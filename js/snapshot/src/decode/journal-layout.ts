/**
 * The journal of a restore: which snapshot it is of, and for each frame that is restored the BLAKE3
 * digest of its data. Where nothing is written yet, there are zeros.
 */

/** What a journal begins with: its kind and version, and then the digest of the snapshot. */
export const MAGIC = "hedgerow restore journal 1\n";

/** How long what it begins with is, in bytes. */
export const HEAD_LENGTH = 64;

/** How long the entry of a frame is, in bytes. */
export const ENTRY_LENGTH = 32;

/** Where the entry of a frame lies, in bytes. */
export function entryPosition(index: number): number {
  return HEAD_LENGTH + index * ENTRY_LENGTH;
}
