import { SnapshotError } from "../../error.js";
import type { Libc } from "../../local/libc.js";
import { changing } from "../directory/changing.js";
import { type Inventory, type StoredImage, takeInventory } from "../directory/inventory.js";
import type { Layout } from "../directory/layout.js";
import { remove } from "../directory/replacing.js";
import { readSmall, writeSmall } from "../directory/small-file.js";
import type { KeyedLock } from "../locks/keyed-lock.js";
import { LeaseFile } from "../locks/leases.js";
import type { Pruned } from "../statistics/stats.js";
import { evictLeastRecentlyUsed } from "./policy.js";

/** What is kept free for folders that grow, and small files that are replaced, in bytes. */
export const MARGIN = 65_536;

/** What a limit is kept with. */
export interface LimitParts {
  readonly libc: Libc;
  readonly layout: Layout;
  readonly claims: KeyedLock;
  readonly maxBytes: number;
  /** Is told of images that went to make room. */
  evicted(digest: string, bytes: number): void;
}

/** An image that room is wanted for. */
export interface Filling {
  readonly digest: string;
  /** How much, in bytes. */
  readonly needed: number;
}

/** What is to be kept, and what is known. */
interface Keeping {
  /** The image that room is wanted for besides: what there is of it does not count. */
  readonly filling?: Filling;
  /** What there is, if that was just measured. */
  readonly measured?: Inventory;
}

/** How many bytes a cache may take. Everything here is done under its lock. */
export class Limit {
  readonly #parts: LimitParts;

  constructor(parts: LimitParts) {
    this.#parts = parts;
  }

  /**
   * Has images go until there is room. What must stay because it is in use is noted, so that it goes when
   * nobody uses it any more. Of several limits the smallest one is noted.
   *
   * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`
   */
  keep(keeping: Keeping = {}): Promise<void> {
    return this.#keep(this.#parts.maxBytes, keeping);
  }

  /** Keeps the limit that was exceeded, if one was. @throws {SnapshotError} `ERR_CACHE` */
  async keepNoted(): Promise<void> {
    const noted = await this.#noted();
    if (noted !== undefined) await this.#keep(noted, {});
  }

  /** Has images go until everything takes no more than so many bytes. @throws {SnapshotError} `ERR_CACHE` */
  async trim(maxBytes: number): Promise<Pruned> {
    const { images, bytes } = await this.#evictDownTo(maxBytes, {});
    return { images, bytes };
  }

  /**
   * Has images go until the disk has as much room, if that can come of it: `maxBytes` may be more than the disk has.
   * Returns whether any went.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async free(wanted: number): Promise<boolean> {
    const { images } = await takeInventory(this.#parts.layout);
    if (images.reduce((sum, { bytes }) => sum + bytes, 0) < wanted) return false;
    let isAny = false;
    await evictLeastRecentlyUsed(images, wanted, async (image) => {
      const isGone = await this.evict(image);
      isAny ||= isGone;
      return isGone;
    });
    return isAny;
  }

  /** Has everything go that is not whole, and that nobody is at. Returns whether there was no such thing. */
  async tidy({ images, claims }: Inventory): Promise<boolean> {
    const remains = images.filter(({ isWhole }) => !isWhole);
    for (const image of remains) await this.evict(image);
    for (const name of claims.keys()) await this.#parts.claims.clearDead(name);
    return remains.length === 0 && claims.size === 0;
  }

  /** Has an image go, unless it is in use. Returns whether it went. @throws {SnapshotError} `ERR_CACHE` */
  async evict({ digest, bytes, isWhole }: StoredImage): Promise<boolean> {
    const { libc, layout } = this.#parts;
    const lease = LeaseFile.open(libc, layout.lease(digest));
    try {
      // Nobody can have the lock of what is no file.
      if (lease?.lockAlone() === false) return false;
      for (const path of [layout.record(digest), layout.image(digest), layout.lease(digest)]) {
        await changing(layout, remove(path));
      }
    } finally {
      lease?.close();
    }
    if (isWhole) this.#parts.evicted(digest, bytes);
    return true;
  }

  async #keep(maxBytes: number, keeping: Keeping): Promise<void> {
    const { layout } = this.#parts;
    let { missing } = await this.#evictDownTo(maxBytes - MARGIN, keeping);
    let noted = await this.#noted();
    if (missing > 0 && (noted === undefined || noted > maxBytes)) {
      noted = maxBytes;
      await changing(layout, writeSmall(layout.excess, String(noted)));
      // Whoever has let go of an image before the note was there did not see it.
      const { filling } = keeping;
      const again = await this.#evictDownTo(maxBytes - MARGIN, filling ? { filling } : {});
      missing = again.missing;
    }
    if (missing > 0 || noted === undefined || noted < maxBytes) return;
    await changing(layout, remove(layout.excess));
  }

  /** The limit that was exceeded, if one was. */
  async #noted(): Promise<number | undefined> {
    const { layout, maxBytes } = this.#parts;
    const text = await changing(layout, readSmall(layout.excess));
    if (text === undefined) return undefined;
    // Whoever was killed while it was written has noted nothing that can be read.
    return /^\d{1,16}$/.test(text) ? Number(text) : maxBytes;
  }

  /** Returns what went, and how many bytes more there are yet than there may be. */
  async #evictDownTo(
    most: number,
    { filling, measured }: Keeping,
  ): Promise<Pruned & { readonly missing: number }> {
    const { layout, claims } = this.#parts;
    const found = measured ?? (await takeInventory(layout));
    if (filling !== undefined) this.#checkFits(filling, most - found.ownBytes);
    let taken = found.bytes + (filling?.needed ?? 0);
    for (const [name, bytes] of found.claims) {
      const isOwn = name === filling?.digest;
      if (isOwn || (await claims.clearDead(name))) taken -= bytes;
    }
    let [images, bytes] = [0, 0];
    const missing = await evictLeastRecentlyUsed(found.images, taken - most, async (image) => {
      const isGone = await this.evict(image);
      if (isGone && image.isWhole) [images, bytes] = [images + 1, bytes + image.bytes];
      return isGone;
    });
    return { images, bytes, missing };
  }

  /** @throws {SnapshotError} `ERR_CACHE_SIZE` */
  #checkFits({ digest, needed }: Filling, most: number): void {
    if (needed <= most) return;
    const { layout, maxBytes } = this.#parts;
    const cache = `the cache ${layout.directory}, which may have ${maxBytes} bytes`;
    const expected = `expected that it takes at most ${Math.max(0, most)} bytes in ${cache}`;
    const message = `the snapshot ${digest}: ${expected}, found ${needed}`;
    throw new SnapshotError("ERR_CACHE_SIZE", message);
  }
}
