import type { Libc } from "../../local/libc.js";
import { type Inventory, type StoredImage, takeInventory } from "../directory/inventory.js";
import type { Layout } from "../directory/layout.js";
import { changing, remove } from "../directory/write-files.js";
import type { Claims } from "../locks/claims.js";
import { LeaseFile } from "../locks/lease-file.js";
import type { Pruned } from "../statistics/stats.js";
import { evictLeastRecentlyUsed } from "./least-recently-used.js";

/** What an evictor works with. */
export interface EvictorParts {
  readonly libc: Libc;
  readonly layout: Layout;
  readonly claims: Claims;
  /** Is called for each image that was evicted to free space. */
  onEvicted(digest: string, bytes: number): void;
}

/** An image for which space is wanted. */
export interface WantedSpace {
  readonly digest: string;
  /** In bytes. */
  readonly needed: number;
}

/** Evicts images that are not in use. All methods must be called under the cache lock. */
export class Evictor {
  readonly #parts: EvictorParts;

  constructor(parts: EvictorParts) {
    this.#parts = parts;
  }

  /** Deletes an image unless it is in use. Returns whether it was deleted. @throws {SnapshotError} `ERR_CACHE` */
  async evict({ digest, bytes, isWhole }: StoredImage): Promise<boolean> {
    const { libc, layout } = this.#parts;
    const lease = LeaseFile.open(libc, layout.lease(digest));
    try {
      // If the lease file is not a regular file, no one can hold its lock.
      if (lease?.lockExclusive() === false) return false;
      for (const path of [layout.record(digest), layout.image(digest), layout.lease(digest)]) {
        await changing(layout, remove(path));
      }
    } finally {
      lease?.close();
    }
    if (isWhole) this.#parts.onEvicted(digest, bytes);
    return true;
  }

  /**
   * Removes abandoned restores and evicts images until a cache takes at most `maxBytes`, including the space wanted
   * for an image.
   *
   * @returns what was evicted, and how many bytes are still missing because all remaining images are in use
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async evictDownTo(
    maxBytes: number,
    { images, reservations, bytes: measured }: Inventory,
    wanted?: WantedSpace,
  ): Promise<Pruned & { readonly missing: number }> {
    let used = measured + (wanted?.needed ?? 0);
    for (const [key, reserved] of reservations) {
      const isOwn = key === wanted?.digest;
      if (isOwn || (await this.#parts.claims.removeAbandoned(key))) used -= reserved;
    }
    let [evicted, bytes] = [0, 0];
    const missing = await evictLeastRecentlyUsed(images, used - maxBytes, async (image) => {
      const isEvicted = await this.evict(image);
      if (isEvicted && image.isWhole) [evicted, bytes] = [evicted + 1, bytes + image.bytes];
      return isEvicted;
    });
    return { images: evicted, bytes, missing };
  }

  /**
   * Evicts images to free space on a disk that is full before the cache reaches its limit. Evicts nothing if all
   * images together would not be enough. Returns whether any was evicted.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async freeDisk(wanted: number): Promise<boolean> {
    const { images } = await takeInventory(this.#parts.layout);
    if (images.reduce((sum, { bytes }) => sum + bytes, 0) < wanted) return false;
    let isAny = false;
    await evictLeastRecentlyUsed(images, wanted, async (image) => {
      const isEvicted = await this.evict(image);
      isAny ||= isEvicted;
      return isEvicted;
    });
    return isAny;
  }

  /**
   * Deletes the remains of images and abandoned restores. Returns whether there were none.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async removeRemains({ images, reservations }: Inventory): Promise<boolean> {
    const remains = images.filter(({ isWhole }) => !isWhole);
    for (const image of remains) await this.evict(image);
    for (const key of reservations.keys()) await this.#parts.claims.removeAbandoned(key);
    return remains.length === 0 && reservations.size === 0;
  }
}
