/** Restores an image into a cache: reserves space, writes the image, and publishes it when it is whole. */
import { type FileHandle, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";

import { DecodeJob } from "../decode/decode-job.js";
import { entryPosition } from "../decode/frame-sink.js";
import { prepareResumable, syncResumable } from "../decode/restored-image.js";
import { SnapshotError } from "../error.js";
import type { Manifest } from "../format/manifest.js";
import { withWriteback } from "../local/atomic-write.js";
import { freeSpace } from "../local/disk-space.js";
import { isSameFile } from "../local/open-file.js";
import { openPrivate } from "../local/private-file.js";
import type { Source } from "../location/source.js";
import type { WorkOptions } from "../workers/pool.js";
import type { CachedBase, OpenSnapshot } from "./bases.js";
import { copyBase } from "./copies.js";
import type { Evictor } from "./eviction.js";
import {
  changing,
  diskUsage,
  keyOf,
  type Layout,
  lstatIfPresent,
  move,
  type OpenDirectory,
  remove,
  reservedBy,
  writeFile,
} from "./files.js";
import { type Lease, LeaseFile, type Leases } from "./leases.js";
import { makeRecord, recordLength } from "./record.js";

/** The errors of a full disk and of an exhausted quota. */
const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Restores a snapshot into a cache and leases its image. If the disk is full before the cache reaches its limit,
 * evicts images and tries once more.
 *
 * @param journal the file of the held lock; the restore resumes from the journal that is in it
 * @param base the image of a base: a copy of it is changed to that of the delta
 * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`, and what restoring throws
 */
export async function restoreImage(
  writer: ImageWriter,
  snapshot: OpenSnapshot,
  journal: FileHandle,
  options: WorkOptions,
  base?: CachedBase,
): Promise<Lease> {
  try {
    return await tryRestore(writer, snapshot, journal, options, base);
  } catch (error) {
    if (!isDiskFull(error)) throw asCacheError(error);
    const { source, manifest } = snapshot;
    const length = recordLength(manifest, nameOf(source));
    if (!(await writer.freeDisk(manifest, length, options.signal))) throw asCacheError(error);
    return await tryRestore(writer, snapshot, journal, options, base).catch((again: unknown) => {
      throw asCacheError(again);
    });
  }
}

function isDiskFull(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return error instanceof SnapshotError && FULL.has(Object(cause).code);
}

/** Returns `ERR_TARGET` as `ERR_CACHE`: the file that cannot be written belongs to the cache, not to the caller. */
function asCacheError(error: unknown): unknown {
  if (!(error instanceof SnapshotError) || error.code !== "ERR_TARGET") return error;
  return new SnapshotError("ERR_CACHE", error.message, { cause: error.cause });
}

/** Returns the name of a source for its record. A path is made absolute, since other processes read it. */
function nameOf({ id, name }: Source): string {
  return id === undefined ? name : resolve(name);
}

async function tryRestore(
  writer: ImageWriter,
  { source, manifest }: OpenSnapshot,
  journal: FileHandle,
  options: WorkOptions,
  base: CachedBase | undefined,
): Promise<Lease> {
  const name = nameOf(source);
  const reserved = await writer.reserve(manifest, recordLength(manifest, name));
  const { path, file } = reserved;
  try {
    const isResumed = await prepareResumable(path, file, journal, manifest);
    const image = { fd: file.fd, name: path, mayHoldData: true, journal: journal.fd };
    const { signal } = options;
    await withWriteback(file, async () => {
      const isWanted =
        base && (await copyBase(manifest, base, { path, file, journal, isResumed, signal }));
      await source.decode(new DecodeJob(source.name, manifest, image, isWanted), options);
    });
    await syncResumable(path, file, journal);
    options.signal?.throwIfAborted();
    const record = await makeRecord(manifest, name, journal);
    return await writer.publish(manifest.info.digest, reserved, record);
  } finally {
    await file.close();
  }
}

/** The mode of images: not even their owner writes to them. */
const READ_ONLY = 0o400;

/** The block size by which disk usage is estimated, in bytes. */
const BLOCK = 4096;

/** The share of an image's data that a file system may need for the map of its blocks. */
const MAP_SHARE = 1 / 128;

/** A file with reserved space, into which an image is restored. */
export interface Reserved {
  readonly path: string;
  readonly file: FileHandle;
  /** The space reserved for the published image, in bytes. */
  readonly bytes: number;
}

/** Adds images to a cache: reserves space for each, and publishes it when it is whole. */
export class ImageWriter {
  constructor(
    private readonly directory: OpenDirectory,
    private readonly leases: Leases,
    private readonly evictor: Evictor,
  ) {}

  /**
   * Evicts images until there is space for a new one, and opens the file for it. The file may contain what another
   * process restored before it ended.
   *
   * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`
   */
  async reserve(manifest: Manifest, recordLength: number): Promise<Reserved> {
    const { layout, mutex } = this.directory;
    const { digest } = manifest.info;
    const { atRest, needed } = spaceFor(manifest, recordLength);
    return mutex.run(async () => {
      await this.evictor.enforce({ wanted: { digest, needed } });
      const path = layout.partial(digest, needed);
      await adopt(layout, digest, path);
      return { path, file: await openPrivate(path, path, remove), bytes: atRest };
    });
  }

  /**
   * Evicts images for one that is being restored, when the disk is full before the cache reaches its limit. Keeps
   * the data that was restored so far. Returns whether any image was evicted.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  freeDisk(manifest: Manifest, recordLength: number, signal?: AbortSignal): Promise<boolean> {
    const { layout, mutex } = this.directory;
    const { digest } = manifest.info;
    const { needed } = spaceFor(manifest, recordLength);
    return mutex.run(async () => {
      const paths = [layout.partial(digest, needed), layout.claim(digest)];
      const used = paths.reduce((sum, path) => sum + diskUsage(lstatIfPresent(path)), 0);
      // With a quota or reserved blocks, a write can fail although the disk reports enough free space.
      return this.evictor.freeDisk(Math.max(1, needed - used - (await freeSpace(layout.lock))));
    }, signal);
  }

  /**
   * Makes a restored image visible in the cache, and leases it.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async publish(digest: string, { path, file, bytes }: Reserved, record: Buffer): Promise<Lease> {
    const { layout, mutex } = this.directory;
    const newRecord = layout.newRecord(digest);
    await changing(layout, writeFile(newRecord, record, true));
    return mutex.run(async () => {
      if (!(await isSameFile(path, await changing(layout, file.stat({ bigint: true }))))) {
        const message = `${path} was deleted or replaced while the image was restored`;
        throw new SnapshotError("ERR_CACHE", message);
      }
      await changing(layout, file.chmod(READ_ONLY));
      const leaseFile = LeaseFile.open(this.directory, digest);
      if (leaseFile === undefined) await changing(layout, remove(layout.lease(digest)));
      leaseFile?.close();
      // The record comes last: without it the image does not exist.
      await changing(layout, move(path, layout.image(digest)));
      await changing(layout, move(newRecord, layout.record(digest)));
      const lease = this.leases.take(digest);
      if (lease === undefined || lease === "damaged") {
        const message = `${layout.image(digest)} was deleted or changed while it was published`;
        throw new SnapshotError("ERR_CACHE", message);
      }
      try {
        if (lease.bytes > bytes) await this.evictor.enforce();
      } catch (error) {
        lease.release();
        throw error;
      }
      return lease;
    });
  }
}

/** Renames the partial image of another process, with another reservation, to `path`. */
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
