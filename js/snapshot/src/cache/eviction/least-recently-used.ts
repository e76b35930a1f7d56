/** An image that may be evicted. */
export interface Candidate {
  /** Its disk usage, in bytes. */
  readonly bytes: number;
  /** When it was last used. */
  readonly used: bigint;
}

/**
 * Decides which images to evict: yields the least recently used ones until `wanted` bytes are freed. Pass to `next`
 * whether the image was evicted; `false` if it is in use.
 *
 * @returns the number of bytes still missing because all remaining images are in use
 */
export function* leastRecentlyUsed<T extends Candidate>(
  images: readonly T[],
  wanted: number,
): Generator<T, number, boolean> {
  if (wanted <= 0) return 0;
  let missing = wanted;
  for (const image of [...images].sort(byUse)) {
    if (missing <= 0) break;
    if (yield image) missing -= image.bytes;
  }
  return Math.max(0, missing);
}

/**
 * Evicts the least recently used images until `wanted` bytes are freed.
 *
 * @param evict evicts an image; returns false if it is in use
 * @returns the number of bytes still missing because all remaining images are in use
 */
export async function evictLeastRecentlyUsed<T extends Candidate>(
  images: readonly T[],
  wanted: number,
  evict: (image: T) => Promise<boolean>,
): Promise<number> {
  const order = leastRecentlyUsed(images, wanted);
  let step = order.next(false);
  while (!step.done) step = order.next(await evict(step.value));
  return step.value;
}

/** Compares two images by their last use, the earlier one first. */
export function byUse(one: Candidate, other: Candidate): number {
  if (one.used === other.used) return 0;
  return one.used < other.used ? -1 : 1;
}
