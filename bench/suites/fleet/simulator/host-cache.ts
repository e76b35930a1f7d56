/**
 * The cache of a simulated host. Evicts as `ImageCache` does: the least recently used image first, and none in use. If
 * images in use keep it above its limit, it evicts when one of them is released.
 */
export class HostCache {
  readonly #maxBytes: number;
  readonly #onEvicted: (image: number) => void;
  /** The least recently used first. */
  readonly #images = new Map<number, { readonly bytes: number; users: number }>();
  /** Of images and reservations. */
  #bytes = 0;

  constructor(maxBytes: number, onEvicted: (image: number) => void = () => {}) {
    this.#maxBytes = maxBytes;
    this.#onEvicted = onEvicted;
  }

  /** The images, the least recently used first. */
  images(): number[] {
    return [...this.#images.keys()];
  }

  /** Begins a use of an image. Returns whether it is there. */
  take(image: number): boolean {
    const found = this.#images.get(image);
    if (found === undefined) return false;
    found.users += 1;
    this.#images.delete(image);
    this.#images.set(image, found);
    return true;
  }

  /** Reserves space for an image, and evicts others for it. */
  reserve(bytes: number): void {
    this.#bytes += bytes;
    this.#evict();
  }

  /** Stores an image for which space is reserved, and begins a use of it. */
  publish(image: number, bytes: number): void {
    this.#images.set(image, { bytes, users: 1 });
  }

  /** Ends a use of an image. */
  release(image: number): void {
    const found = this.#images.get(image)!;
    found.users -= 1;
    if (found.users === 0) this.#evict();
  }

  #evict(): void {
    if (this.#bytes <= this.#maxBytes) return;
    for (const [image, { bytes, users }] of this.#images) {
      if (users > 0) continue;
      this.#images.delete(image);
      this.#bytes -= bytes;
      this.#onEvicted(image);
      if (this.#bytes <= this.#maxBytes) return;
    }
  }
}
