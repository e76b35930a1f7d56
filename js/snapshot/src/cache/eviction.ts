/** The size limit of a cache, and the order of eviction. */
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { readWholeFile } from "../local/open-file.js";
import type { Claims } from "./claims.js";
import { changing, lstatIfPresent, type OpenDirectory, remove, writeFile } from "./files.js";
import { type Inventory, type StoredImage, takeInventory } from "./inventory.js";
import { LeaseFile } from "./leases.js";
import type { Counters, Pruned } from "./statistics.js";

/** The space kept free for directories that grow and small files that are replaced, in bytes. */
export const MARGIN = 65_536;

/** An image that may be evicted. */
interface Candidate {
  /** Its disk usage, in bytes. */
  readonly bytes: number;
  /** When it was last used. */
  readonly used: bigint;
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
  let missing = wanted;
  for (const image of [...images].sort(byUse)) {
    if (missing <= 0) break;
    if (await evict(image)) missing -= image.bytes;
  }
  return Math.max(0, missing);
}

/** Compares two images by their last use, the earlier one first. */
export function byUse(one: Candidate, other: Candidate): number {
  if (one.used === other.used) return 0;
  return one.used < other.used ? -1 : 1;
}

/** The maximum length of the note of a limit that is exceeded, in bytes. */
const MAX_NOTE = 64;

/** An image for which space is wanted. */
export interface WantedSpace {
  readonly digest: string;
  /** In bytes. */
  readonly needed: number;
}

/** The parameters of an enforcement of the limit. */
interface EnforceOptions {
  /** An image for which space is wanted. Space that it already takes does not count. */
  readonly wanted?: WantedSpace | undefined;
  /** The content of the cache, if it was just measured. */
  readonly measured?: Inventory | undefined;
}

/** Evicts images that are not in use, to keep a cache within its limit. All methods must be called under the cache lock. */
export class Evictor {
  constructor(
    private readonly directory: OpenDirectory,
    private readonly claims: Claims,
    private readonly counters: Counters,
    private readonly maxBytes: number,
  ) {}

  /** Deletes an image unless it is in use. Returns whether it was deleted. @throws {SnapshotError} `ERR_CACHE` */
  async evict({ digest, bytes, isWhole }: StoredImage): Promise<boolean> {
    const { layout } = this.directory;
    const lease = LeaseFile.open(this.directory, digest);
    try {
      // If the lease file is not a regular file, no one can hold its lock.
      if (lease?.lockExclusive() === false) return false;
      for (const path of [layout.record(digest), layout.image(digest), layout.lease(digest)]) {
        await changing(layout, remove(path));
      }
    } finally {
      lease?.close();
    }
    if (!isWhole) return true;
    this.counters.counts.evictions += 1;
    emit("hedgerow:cache:evict", { directory: layout.directory, digest, bytes });
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
      if (isOwn || (await this.claims.removeAbandoned(key))) used -= reserved;
    }
    let evicted = 0;
    let bytes = 0;
    const missing = await evictLeastRecentlyUsed(images, used - maxBytes, async (image) => {
      const isEvicted = await this.evict(image);
      if (isEvicted && image.isWhole) {
        evicted += 1;
        bytes += image.bytes;
      }
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
    const { images } = await takeInventory(this.directory.layout);
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
    for (const key of reservations.keys()) await this.claims.removeAbandoned(key);
    return remains.length === 0 && reservations.size === 0;
  }

  /**
   * Evicts images until the cache is within its limit.
   *
   * If images in use prevent that, notes the limit in the directory; the process that releases an image then enforces
   * it. Of several limits, the smallest is noted.
   *
   * @throws {SnapshotError} `ERR_CACHE_SIZE` if the wanted space exceeds the limit; `ERR_CACHE`
   */
  enforce(enforcing: EnforceOptions = {}): Promise<void> {
    return this.#enforce(this.maxBytes, enforcing);
  }

  /** Enforces the limit that is noted as exceeded, if any. @throws {SnapshotError} `ERR_CACHE` */
  async enforceNoted(): Promise<void> {
    const noted = await this.#readNoted();
    if (noted !== undefined) await this.#enforce(noted, {});
  }

  async #enforce(maxBytes: number, { wanted, measured }: EnforceOptions): Promise<void> {
    let missing = await this.#reduce(maxBytes - MARGIN, { wanted, measured });
    let noted = await this.#readNoted();
    if (missing > 0 && (noted === undefined || noted > maxBytes)) {
      noted = maxBytes;
      await changing(this.directory.layout, writeFile(this.directory.layout.excess, String(noted)));
      // An image that was released before the note existed has not been evicted.
      missing = await this.#reduce(maxBytes - MARGIN, { wanted });
    }
    if (missing > 0 || noted === undefined || noted < maxBytes) return;
    await changing(this.directory.layout, remove(this.directory.layout.excess));
  }

  /** Evicts images down to `maxBytes`. Returns by how many bytes the cache still exceeds it. */
  async #reduce(maxBytes: number, { wanted, measured }: EnforceOptions): Promise<number> {
    const inventory = measured ?? (await takeInventory(this.directory.layout));
    if (wanted !== undefined) this.#checkFits(wanted, maxBytes - inventory.ownBytes);
    const { missing } = await this.evictDownTo(maxBytes, inventory, wanted);
    return missing;
  }

  /** Returns the limit that a process recorded as exceeded, if any. */
  async #readNoted(): Promise<number | undefined> {
    const { layout } = this.directory;
    if (lstatIfPresent(layout.excess) === undefined) return undefined;
    const bytes = await changing(layout, readWholeFile(layout.excess, MAX_NOTE));
    const text = bytes?.toString() ?? "";
    // A process that was killed while writing the note leaves it empty.
    return /^\d{1,16}$/.test(text) ? Number(text) : this.maxBytes;
  }

  /** @throws {SnapshotError} `ERR_CACHE_SIZE` */
  #checkFits({ digest, needed }: WantedSpace, available: number): void {
    if (needed <= available) return;
    const { directory } = this.directory.layout;
    const limit = `maxBytes ${this.maxBytes} leaves ${Math.max(0, available)} for images`;
    const message = `the snapshot ${digest} needs ${needed} bytes in the cache ${directory}; ${limit}`;
    throw new SnapshotError("ERR_CACHE_SIZE", message);
  }
}
