import { type Candidate, leastRecentlyUsed, MARGIN } from "@hedgerow/snapshot/eviction";

/** The disk usage of the note that the limit is exceeded, which counts, in bytes. */
const NOTE = 4096;

/** The part of `maxBytes` of a cache that no image can have, in bytes. */
export const OVERHEAD = MARGIN + NOTE;

/** An image in a simulated cache. */
interface Entry<Image> extends Candidate {
  readonly image: Image;
  readonly bytes: number;
  used: bigint;
  users: number;
}

/**
 * The cache of a simulated host: the eviction policy of `ImageCache`, without files.
 *
 * Images in use are not evicted. If they keep the cache above its limit, it evicts when one of them is released.
 */
export class HostCache<Image> {
  readonly #maxBytes: number;
  readonly #onEvicted: (image: Image) => void;
  /** The least recently used first. */
  readonly #entries = new Map<Image, Entry<Image>>();
  readonly #reserved = new Map<Image, number>();
  /** Of images and reservations. */
  #bytes = 0;
  #clock = 0n;
  #isNoted = false;

  /** @param maxBytes the limit of the directory, without its own files */
  constructor(maxBytes: number, onEvicted: (image: Image) => void = () => {}) {
    this.#maxBytes = maxBytes - MARGIN;
    this.#onEvicted = onEvicted;
  }

  /** The bytes of all images and reservations. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The images, the least recently used first. */
  images(): Image[] {
    return [...this.#entries.keys()];
  }

  /** Begins a use of an image. Returns whether it is there. */
  take(image: Image): boolean {
    const entry = this.#entries.get(image);
    if (entry === undefined) return false;
    entry.users += 1;
    this.#touch(entry);
    return true;
  }

  /** Reserves space for an image, and evicts others for it. Returns false if it does not fit into the cache. */
  reserve(image: Image, bytes: number): boolean {
    this.#reserved.set(image, bytes);
    this.#bytes += bytes;
    if (this.#enforce(bytes)) return true;
    this.#reserved.delete(image);
    this.#bytes -= bytes;
    return false;
  }

  /** Stores an image for which space is reserved, and begins a use of it. */
  publish(image: Image, bytes: number): void {
    this.#bytes += bytes - (this.#reserved.get(image) ?? 0);
    this.#reserved.delete(image);
    this.#touch({ image, bytes, used: 0n, users: 1 });
  }

  /** Ends a use of an image, and evicts images that had to stay while it was in use. */
  release(image: Image): void {
    const entry = this.#entries.get(image)!;
    entry.users -= 1;
    if (entry.users === 0 && this.#isNoted) this.#enforce(0);
  }

  /** Marks an image as the most recently used. */
  #touch(entry: Entry<Image>): void {
    this.#clock += 1n;
    entry.used = this.#clock;
    // Sorting a list that is in order takes less time.
    this.#entries.delete(entry.image);
    this.#entries.set(entry.image, entry);
  }

  /**
   * Evicts down to the limit. If images in use prevent that, notes it. Returns whether an image of this size fits.
   *
   * @param bytes the size of the image for which space is reserved; 0 without one
   */
  #enforce(bytes: number): boolean {
    if (!this.#fits(bytes)) return false;
    let missing = this.#evictDown();
    if (missing > 0 && !this.#isNoted) {
      this.#isNoted = true;
      if (!this.#fits(bytes)) return false;
      missing = this.#evictDown();
    }
    this.#isNoted = missing > 0;
    return true;
  }

  #fits(bytes: number): boolean {
    return bytes + (this.#isNoted ? NOTE : 0) <= this.#maxBytes;
  }

  /** Returns by how many bytes the cache still exceeds its limit. */
  #evictDown(): number {
    const excess = this.#bytes + (this.#isNoted ? NOTE : 0) - this.#maxBytes;
    if (excess <= 0) return 0;
    const order = leastRecentlyUsed([...this.#entries.values()], excess);
    let step = order.next(false);
    while (!step.done) step = order.next(this.#evict(step.value));
    return step.value;
  }

  /** Evicts an image unless it is in use. Returns whether it did. */
  #evict({ image, bytes, users }: Entry<Image>): boolean {
    if (users > 0) return false;
    this.#entries.delete(image);
    this.#bytes -= bytes;
    this.#onEvicted(image);
    return true;
  }
}
