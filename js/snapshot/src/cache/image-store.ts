import { existsSync } from "node:fs";

import { emit } from "../events.js";
import { isReadOnlyError } from "../local/system-errors.js";
import type { Evictor } from "./eviction.js";
import { changing, type OpenDirectory, remove } from "./files.js";
import { type Inventory, type StoredImage, takeInventory } from "./inventory.js";
import type { Lease, Leases } from "./leases.js";
import type { Counters, Pruned } from "./statistics.js";

/** The images in a cache: leases them, removes them and measures them. */
export class ImageStore {
  constructor(
    private readonly directory: OpenDirectory,
    private readonly leases: Leases,
    private readonly evictor: Evictor,
    private readonly counters: Counters,
  ) {}

  /** Leases an image. Returns undefined if there is no intact one. @throws {SnapshotError} `ERR_CACHE` */
  async take(digest: string): Promise<Lease | undefined> {
    const found = this.leases.take(digest);
    if (found !== "damaged") return found;
    await unlessReadOnly(this.discardDamaged(digest));
    return undefined;
  }

  /**
   * Ends the use of an image, and evicts images that could not be evicted before because they were in use.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async release(lease: Lease): Promise<void> {
    const { layout, mutex } = this.directory;
    if (!lease.release()) return;
    const { digest } = lease.info;
    const isRemoved = () => !existsSync(layout.record(digest));
    if (isRemoved()) {
      const evicting = mutex.run(async () => {
        // By now, another process may have restored it.
        if (isRemoved()) await this.evictor.evict(remainsOf(digest));
      });
      await unlessReadOnly(evicting);
    }
    if (existsSync(layout.excess))
      await unlessReadOnly(mutex.run(() => this.evictor.enforceNoted()));
  }

  /** Returns whether an image exists. Without a lease it may be evicted at any time. */
  has(digest: string): boolean {
    const { layout } = this.directory;
    return existsSync(layout.record(digest)) && existsSync(layout.image(digest));
  }

  /** Removes an image; its current users keep it. Returns whether it existed. @throws {SnapshotError} `ERR_CACHE` */
  remove(digest: string, signal: AbortSignal | undefined): Promise<boolean> {
    return this.directory.mutex.run(async () => {
      const isThere = this.has(digest);
      await this.#remove(digest);
      return isThere;
    }, signal);
  }

  /** Removes all images, as {@link remove} does. Returns how many there were. @throws {SnapshotError} `ERR_CACHE` */
  clear(): Promise<number> {
    const { layout, mutex } = this.directory;
    return mutex.run(async () => {
      const { images } = await takeInventory(layout);
      for (const { digest } of images) await this.#remove(digest);
      return images.filter(({ isWhole }) => isWhole).length;
    });
  }

  /**
   * Removes an image whose file has the wrong length, owner or mode. Returns whether it still had.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  discardDamaged(digest: string): Promise<boolean> {
    return this.discard(
      digest,
      "its length, owner or mode has changed",
      () => this.#peek(digest) === "damaged",
    );
  }

  /**
   * Removes an image if its record or lease file is invalid. Returns whether it did.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  discardUnfit(digest: string): Promise<boolean> {
    return this.discard(digest, "its record is damaged, or one of its files is not regular", () => {
      return this.#peek(digest) === undefined && this.has(digest);
    });
  }

  /**
   * Removes an image that is still damaged, under the cache lock. Returns whether it did.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  discard(digest: string, reason: string, isStillDamaged: () => boolean): Promise<boolean> {
    return this.directory.mutex.run(async () => {
      // By now, another process may have removed or restored it.
      if (!isStillDamaged()) return false;
      await this.#remove(digest);
      this.counters.counts.damaged += 1;
      const { directory } = this.directory.layout;
      emit("hedgerow:cache:damaged", { directory, digest, reason });
      return true;
    });
  }

  /** Evicts images until the cache takes at most `maxBytes`. @throws {SnapshotError} `ERR_CACHE` */
  prune(maxBytes: number): Promise<Pruned> {
    const { layout, mutex } = this.directory;
    return mutex.run(async () => {
      const { images, bytes } = await this.evictor.evictDownTo(
        maxBytes,
        await takeInventory(layout),
      );
      return { images, bytes };
    });
  }

  /** Removes the files that killed processes left, and enforces the limit. @throws {SnapshotError} `ERR_CACHE` */
  recover(): Promise<void> {
    const { layout, mutex } = this.directory;
    return mutex.run(async () => {
      await changing(layout, remove(layout.newTotals));
      const measured = await takeInventory(layout);
      // Measuring many images is slow, so do not measure again if nothing was removed.
      const isUnchanged = await this.evictor.removeRemains(measured);
      await this.evictor.enforce(isUnchanged ? { measured } : {});
    });
  }

  /** Measures the cache. @throws {SnapshotError} `ERR_CACHE` */
  inventory(signal?: AbortSignal): Promise<Inventory> {
    const { layout, mutex } = this.directory;
    return mutex.run(() => takeInventory(layout), signal);
  }

  /** Removes an image from the cache. Its files are deleted now if no one uses it, otherwise on release. */
  async #remove(digest: string): Promise<void> {
    const { layout } = this.directory;
    await changing(layout, remove(layout.record(digest)));
    await this.evictor.evict(remainsOf(digest));
  }

  /** Returns the result of taking a lease, and keeps none. */
  #peek(digest: string): Lease | "damaged" | undefined {
    const found = this.leases.take(digest, false);
    if (found !== undefined && found !== "damaged") found.release();
    return found;
  }
}

/** Waits for a change that a later process makes if the cache is read-only now. */
async function unlessReadOnly(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!isReadOnlyError(error)) throw error;
  }
}

/** An image that has lost its record. */
function remainsOf(digest: string): StoredImage {
  return { digest, bytes: 0, used: 0n, isWhole: false };
}
