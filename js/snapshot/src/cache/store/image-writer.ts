import { type FileHandle, readdir } from "node:fs/promises";
import { join } from "node:path";

import { entryPosition } from "../../decode/journal-layout.js";
import { SnapshotError } from "../../error.js";
import type { Manifest } from "../../format/manifest.js";
import { freeSpace } from "../../local/disk-space.js";
import type { Libc } from "../../local/libc.js";
import type { Mutex } from "../../local/locks.js";
import { isSameFile } from "../../local/open-file.js";
import { openPrivate } from "../../local/private-file.js";
import { keyOf, type Layout, reservedBy } from "../directory/layout.js";
import { diskUsage, lstatIfPresent } from "../directory/lstat.js";
import { changing, move, remove, writeSynced } from "../directory/write-files.js";
import type { Evictor } from "../eviction/evictor.js";
import type { SizeLimit } from "../eviction/size-limit.js";
import { LeaseFile } from "../locks/lease-file.js";
import type { Lease, Leases } from "../locks/leases.js";

/** The mode of images: not even their owner writes to them. */
const READ_ONLY = 0o400;

/** The block size by which disk usage is estimated, in bytes. */
const BLOCK = 4096;

/** The share of an image's data that a file system may need for the map of its blocks. */
const MAP_SHARE = 1 / 128;

/** What an image writer works with. */
export interface ImageWriterParts {
  readonly layout: Layout;
  readonly lock: Mutex;
  readonly leases: Leases;
  readonly evictor: Evictor;
  readonly limit: SizeLimit;
  readonly libc: Libc;
}

/** A file with reserved space, into which an image is restored. */
export interface Reserved {
  readonly path: string;
  readonly file: FileHandle;
  /** The space reserved for the published image, in bytes. */
  readonly bytes: number;
}

/** Adds images to a cache: reserves space for each, and publishes it when it is whole. */
export class ImageWriter {
  readonly #parts: ImageWriterParts;

  constructor(parts: ImageWriterParts) {
    this.#parts = parts;
  }

  /**
   * Evicts images until there is space for a new one, and opens the file for it. The file may contain what another
   * process restored before it ended.
   *
   * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`
   */
  async reserve(manifest: Manifest, recordLength: number): Promise<Reserved> {
    const { layout, lock, limit } = this.#parts;
    const { digest } = manifest.info;
    const { atRest, needed } = spaceFor(manifest, recordLength);
    return lock.run(async () => {
      await limit.enforce({ wanted: { digest, needed } });
      const path = layout.partial(digest, needed);
      await adopt(layout, digest, path);
      return { path, file: await openPrivate(path, path, remove), bytes: atRest };
    });
  }

  /**
   * Evicts images for one that is being restored, when the disk is full before the cache reaches its limit. Keeps
   * what was restored so far. Returns whether any was evicted.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  freeDisk(manifest: Manifest, recordLength: number, signal?: AbortSignal): Promise<boolean> {
    const { layout, lock, evictor } = this.#parts;
    const { digest } = manifest.info;
    const { needed } = spaceFor(manifest, recordLength);
    return lock.run(async () => {
      const paths = [layout.partial(digest, needed), layout.claim(digest)];
      const used = paths.reduce((sum, path) => sum + diskUsage(lstatIfPresent(path)), 0);
      // With a quota or reserved blocks, a write can fail although the disk reports enough free space.
      return evictor.freeDisk(Math.max(1, needed - used - (await freeSpace(layout.lock))));
    }, signal);
  }

  /**
   * Makes a restored image visible in the cache, and leases it.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async publish(digest: string, { path, file, bytes }: Reserved, record: Buffer): Promise<Lease> {
    const { libc, layout, lock, leases, limit } = this.#parts;
    const newRecord = layout.newRecord(digest);
    await changing(layout, writeSynced(newRecord, record));
    return lock.run(async () => {
      if (!(await isSameFile(path, await changing(layout, file.stat({ bigint: true }))))) {
        const message = `${path} was deleted or replaced while the image was restored`;
        throw new SnapshotError("ERR_CACHE", message);
      }
      await changing(layout, file.chmod(READ_ONLY));
      const leaseFile = LeaseFile.open(libc, layout.lease(digest));
      if (leaseFile === undefined) await changing(layout, remove(layout.lease(digest)));
      leaseFile?.close();
      // The record comes last: without it the image does not exist.
      await changing(layout, move(path, layout.image(digest)));
      await changing(layout, move(newRecord, layout.record(digest)));
      const lease = leases.take(digest);
      if (lease === undefined || lease === "damaged") {
        const message = `${layout.image(digest)} was deleted or changed while it was published`;
        throw new SnapshotError("ERR_CACHE", message);
      }
      try {
        if (lease.bytes > bytes) await limit.enforce();
      } catch (error) {
        lease.release();
        throw error;
      }
      return lease;
    });
  }
}

/** Renames what another process restored of an image, with another reservation, to `path`. */
async function adopt(layout: Layout, digest: string, path: string): Promise<void> {
  for (const name of await changing(layout, readdir(layout.filling))) {
    const isPartial = keyOf(name) === digest && reservedBy(name) > 0;
    if (isPartial) await changing(layout, move(join(layout.filling, name), path));
  }
}

/** Returns the space that an image takes once it is published, and while it is restored, in bytes. */
function spaceFor({ info, frames }: Manifest, recordLength: number) {
  const map = Math.floor((info.dataSize * MAP_SHARE) / BLOCK) * BLOCK;
  const atRest = inBlocks(info.dataSize) + map + inBlocks(recordLength);
  return { atRest, needed: atRest + inBlocks(entryPosition(frames.count)) };
}

function inBlocks(length: number): number {
  return Math.ceil(length / BLOCK) * BLOCK;
}
