import { existsSync } from "node:fs";
import { type FileHandle, readdir } from "node:fs/promises";
import { join } from "node:path";
import { entryPosition } from "../../decode/journal-layout.js";
import { SnapshotError } from "../../error.js";
import type { Manifest } from "../../format/manifest.js";
import { freeSpace } from "../../local/free-space.js";
import type { Libc } from "../../local/libc.js";
import { leadsTo } from "../../local/other-file.js";
import { openPrivate } from "../../local/private-file.js";
import type { Limit } from "../eviction/limit.js";
import { type Lease, LeaseFile, type Leases } from "../locks/leases.js";
import type { CacheLock } from "../locks/lock.js";
import type { Pruned } from "../statistics/stats.js";
import { changing } from "./changing.js";
import { type Inventory, type StoredImage, takeInventory } from "./inventory.js";
import { claimOf, type Layout, reservedOf } from "./layout.js";
import { bytesOf, find } from "./lstat.js";
import { create, move, remove } from "./replacing.js";

/** What an image has as its mode: nobody is to write it. */
const READ_ONLY = 0o400;

/** What files are made of on the disk, in bytes. */
const BLOCK = 4096;

/** The share of an image's data that a file system may need besides, to know where all of it lies. */
const MAP_SHARE = 1 / 128;

/** What a shelf is made of. */
export interface ShelfParts {
  readonly layout: Layout;
  readonly lock: CacheLock;
  readonly leases: Leases;
  readonly limit: Limit;
  readonly libc: Libc;
  /** Is told of images that went because they were damaged. */
  discarded(digest: string, reason: string): void;
}

/** Room for an image that is being restored. */
export interface Reserved {
  readonly path: string;
  readonly file: FileHandle;
  /** What the image may take, in bytes, without what goes when it is whole. */
  readonly bytes: number;
}

/** The images of a cache, on its disk. They come and go under the lock of the cache. */
export class ImageStore {
  readonly #parts: ShelfParts;

  constructor(parts: ShelfParts) {
    this.#parts = parts;
  }

  /** Begins to use an image. Returns undefined if there is none that is whole. @throws {SnapshotError} `ERR_CACHE` */
  async take(digest: string): Promise<Lease | undefined> {
    const found = this.#parts.leases.take(digest);
    if (found !== "damaged") return found;
    await this.discardDamaged(digest);
    return undefined;
  }

  /** Ends the use of an image. What had to stay for it goes. @throws {SnapshotError} `ERR_CACHE` */
  async release(lease: Lease): Promise<void> {
    const { layout, lock, limit } = this.#parts;
    if (!lease.release()) return;
    const { digest } = lease.info;
    const isGone = () => !existsSync(layout.record(digest));
    if (isGone()) {
      await lock.run(async () => {
        // Meanwhile another process may have filled it anew.
        if (isGone()) await limit.evict(remains(digest));
      });
    }
    if (existsSync(layout.excess)) await lock.run(() => limit.keepNoted());
  }

  /**
   * Makes room for an image, and opens the file that it will be in. It may hold what another process, which
   * ended, has restored of it.
   *
   * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`
   */
  async reserve({ info, frames }: Manifest, recordLength: number): Promise<Reserved> {
    const { layout, lock, limit } = this.#parts;
    const { digest } = info;
    const { atRest, needed } = roomOf({ info, frames }, recordLength);
    return lock.run(async () => {
      await limit.keep({ filling: { digest, needed } });
      const path = layout.partial(digest, needed);
      await adopt(layout, digest, path);
      return { path, file: await openPrivate(path, path, remove), bytes: atRest };
    });
  }

  /**
   * Has images go for one that is being restored, where the disk is full before the cache is. What there is of it
   * stays. Returns whether any went.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  free(manifest: Manifest, recordLength: number, signal?: AbortSignal): Promise<boolean> {
    const { layout, lock, limit } = this.#parts;
    const { digest } = manifest.info;
    const { needed } = roomOf(manifest, recordLength);
    return lock.run(async () => {
      const paths = [layout.partial(digest, needed), layout.claim(digest)];
      const taken = paths.reduce((sum, path) => sum + bytesOf(find(path)), 0);
      // A quota, or a file system that keeps some room, may want more than is free.
      return limit.free(Math.max(1, needed - taken - (await freeSpace(layout.lock))));
    }, signal);
  }

  /**
   * Has an image that was restored be one of the cache, and begins to use it.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async publish(digest: string, { path, file, bytes }: Reserved, record: Buffer): Promise<Lease> {
    const { libc, layout, lock, leases, limit } = this.#parts;
    const newRecord = layout.newRecord(digest);
    await changing(layout, writeSynced(newRecord, record));
    return lock.run(async () => {
      if (!(await leadsTo(path, await changing(layout, file.stat({ bigint: true }))))) {
        throw new SnapshotError("ERR_CACHE", `${path}: expected what was restored, found another`);
      }
      await changing(layout, file.chmod(READ_ONLY));
      // The record comes last: an image without one is none.
      const leaseFile = LeaseFile.open(libc, layout.lease(digest));
      if (leaseFile === undefined) await changing(layout, remove(layout.lease(digest)));
      leaseFile?.close();
      await changing(layout, move(path, layout.image(digest)));
      await changing(layout, move(newRecord, layout.record(digest)));
      const lease = leases.take(digest);
      if (lease === undefined || lease === "damaged") {
        throw new SnapshotError("ERR_CACHE", `${layout.image(digest)}: expected what was restored`);
      }
      try {
        if (lease.bytes > bytes) await limit.keep();
      } catch (error) {
        lease.release();
        throw error;
      }
      return lease;
    });
  }

  /** Whether there is an image. It may have gone before it is used. */
  has(digest: string): boolean {
    const { layout } = this.#parts;
    return existsSync(layout.record(digest)) && existsSync(layout.image(digest));
  }

  /** Has an image go. One that is in use stays for those who use it. Returns whether there was one. */
  remove(digest: string, signal: AbortSignal | undefined): Promise<boolean> {
    return this.#parts.lock.run(async () => {
      const wasThere = this.has(digest);
      await this.#takeOut(digest);
      return wasThere;
    }, signal);
  }

  /** Has an image go that is not as long as it was. Returns whether it was so still. @throws {SnapshotError} `ERR_CACHE` */
  discardDamaged(digest: string): Promise<boolean> {
    const reason = "it is not as long as it was, or others could write to it";
    return this.discard(digest, reason, () => isDamaged(this.#parts.leases, digest));
  }

  /** Has what is no image go, though it is there as one. Returns whether it was. @throws {SnapshotError} `ERR_CACHE` */
  discardUnfit(digest: string): Promise<boolean> {
    return this.discard(
      digest,
      "what is known of it is damaged, or it is no file of its own",
      () => {
        const found = this.#parts.leases.take(digest, false);
        if (found !== undefined && found !== "damaged") found.release();
        return found === undefined && this.has(digest);
      },
    );
  }

  /** Has an image go that was found to be damaged, if it still is. Returns whether it is. @throws {SnapshotError} `ERR_CACHE` */
  discard(digest: string, reason: string, isBad: () => boolean): Promise<boolean> {
    return this.#parts.lock.run(async () => {
      // Meanwhile another process may have deleted it, or filled it anew.
      if (!isBad()) return false;
      await this.#takeOut(digest);
      this.#parts.discarded(digest, reason);
      return true;
    });
  }

  /** Has all images go. Returns how many there were. */
  clear(): Promise<number> {
    const { layout, lock } = this.#parts;
    return lock.run(async () => {
      const { images } = await takeInventory(layout);
      for (const { digest } of images) await this.#takeOut(digest);
      return images.filter(({ isWhole }) => isWhole).length;
    });
  }

  /** Has images go until everything takes no more than so many bytes, unless they are in use. */
  trim(maxBytes: number): Promise<Pruned> {
    const { lock, limit } = this.#parts;
    return lock.run(() => limit.trim(maxBytes));
  }

  /** Has everything go that is not whole, and that nobody is at. */
  tidy(): Promise<void> {
    const { layout, lock, limit } = this.#parts;
    return lock.run(async () => {
      await changing(layout, remove(layout.newTotals));
      const measured = await takeInventory(layout);
      // Of many images, measuring is what takes time.
      const isTidy = await limit.tidy(measured);
      await limit.keep(isTidy ? { measured } : {});
    });
  }

  /** What is in the cache. */
  inventory(signal?: AbortSignal): Promise<Inventory> {
    const { layout, lock } = this.#parts;
    return lock.run(() => takeInventory(layout), signal);
  }

  /** Has an image be none, whoever uses it, and go if nobody does. */
  async #takeOut(digest: string): Promise<void> {
    const { layout } = this.#parts;
    await changing(layout, remove(layout.record(digest)));
    await this.#parts.limit.evict(remains(digest));
  }
}

/** What is left of an image that is none any more. */
function remains(digest: string): StoredImage {
  return { digest, bytes: 0, used: 0n, isWhole: false };
}

function isDamaged(leases: Leases, digest: string): boolean {
  const found = leases.take(digest, false);
  if (found === undefined || found === "damaged") return found === "damaged";
  found.release();
  return false;
}

/** Has what another process has restored of an image, for which it was promised another room, go by a name. */
async function adopt(layout: Layout, digest: string, path: string): Promise<void> {
  for (const name of await changing(layout, readdir(layout.filling))) {
    const isPart = claimOf(name) === digest && reservedOf(name) > 0;
    if (isPart) await changing(layout, move(join(layout.filling, name), path));
  }
}

/** What an image takes when it is whole, and what is promised to it until then, in bytes. */
function roomOf({ info, frames }: Manifest, recordLength: number) {
  const map = Math.floor((info.dataSize * MAP_SHARE) / BLOCK) * BLOCK;
  const atRest = inBlocks(info.dataSize) + map + inBlocks(recordLength);
  return { atRest, needed: atRest + inBlocks(entryPosition(frames.count)) };
}

function inBlocks(length: number): number {
  return Math.ceil(length / BLOCK) * BLOCK;
}

async function writeSynced(path: string, bytes: Buffer): Promise<void> {
  const file = await create(path);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
