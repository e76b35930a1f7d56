/** An image that may go. */
export interface Candidate {
  /** What it takes on the disk, in bytes. */
  readonly bytes: number;
  /** When it was used last. */
  readonly used: bigint;
}

/**
 * Has the images go that were used the longest ago, until as many bytes are free as are wanted.
 *
 * @param evict has an image go. Returns false if it is in use, so that it stays
 * @returns how many bytes are not free yet, because all that is left is in use
 */
export async function evictLeastRecentlyUsed<T extends Candidate>(
  images: readonly T[],
  wanted: number,
  evict: (image: T) => Promise<boolean>,
): Promise<number> {
  if (wanted <= 0) return 0;
  let missing = wanted;
  for (const image of [...images].sort(byUse)) {
    if (missing <= 0) break;
    if (await evict(image)) missing -= image.bytes;
  }
  return Math.max(0, missing);
}

/** Which of two images was used earlier, to sort by. */
export function byUse(one: Candidate, other: Candidate): number {
  if (one.used === other.used) return 0;
  return one.used < other.used ? -1 : 1;
}
