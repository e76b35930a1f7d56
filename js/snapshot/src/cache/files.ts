/**
 * The files of a cache: their paths, and changes to them. The names in its directory belong to the cache, so that anything
 * found under one of them, even a directory, is deleted or replaced.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Libc } from "../local/libc.js";
import type { Mutex } from "../local/locks.js";
import { PRIVATE_MODE } from "../local/private-file.js";
import { wrapSystemErrors, wrapSystemErrorsSync } from "../local/system-errors.js";

/**
 * The paths of all files in the directory of a cache. docs/cache.md describes what each file is for.
 *
 * A name tells other processes what they need to know without opening the file: which image it belongs to and,
 * for an image that is being restored, how much space is reserved for it.
 *
 * A key names the lock of a process while it restores an image or looks up a source: the digest of a snapshot, or the
 * SHA-256 digest of a requester and source.
 */
export class Layout {
  constructor(readonly directory: string) {}

  /** The file that marks a directory as a cache. It carries the cache lock, and its time is the clock. */
  get lock(): string {
    return join(this.directory, "hedgerow-cache");
  }

  /** Contains the smallest limit that images in use exceed, and exists only while they do. */
  get excess(): string {
    return join(this.directory, "excess");
  }

  /** The counters of all processes. */
  get totals(): string {
    return join(this.directory, "totals.json");
  }

  /** The new totals while they are written. */
  get newTotals(): string {
    return `${this.totals}.new`;
  }

  /** The lock file that lets only one process verify in the background. */
  get verifier(): string {
    return join(this.directory, "verifier");
  }

  get images(): string {
    return join(this.directory, "images");
  }

  /** The directory of everything incomplete. The name of each file begins with its key. */
  get filling(): string {
    return join(this.directory, "filling");
  }

  /** The snapshot last seen at each source. */
  get sources(): string {
    return join(this.directory, "sources");
  }

  image(digest: string): string {
    return join(this.images, `${digest}${IMAGE}`);
  }

  /** The record of an image. The cache contains an image if, and only if, its record exists. */
  record(digest: string): string {
    return join(this.images, `${digest}${RECORD}`);
  }

  /** The empty file that is locked while an image is in use. */
  lease(digest: string): string {
    return join(this.images, `${digest}${LEASE}`);
  }

  /** The lock file of a key. */
  claim(key: string): string {
    return join(this.filling, `${key}${CLAIM}`);
  }

  /** An image that is being restored, for which `reserved` bytes are reserved. */
  partial(digest: string, reserved: number): string {
    return join(this.filling, `${digest}.${reserved}${PARTIAL}`);
  }

  /** The record of an image that is not published yet. */
  newRecord(digest: string): string {
    return join(this.filling, `${digest}${RECORD}`);
  }
}

/** The open directory of a cache. */
export interface OpenDirectory {
  readonly libc: Libc;
  readonly layout: Layout;
  /** Serializes changes to the files of the cache, across all processes. */
  readonly mutex: Mutex;
  /** The file that carries the cache lock and the clock. */
  readonly lock: FileHandle;
  /** The file of the source index. Only a directory that cannot be changed may have none. */
  readonly sources: FileHandle | undefined;
  /** Whether nothing can be changed, as on a read-only file system. */
  readonly isReadOnly: boolean;
}

export const IMAGE = ".img";
export const RECORD = ".record";
export const LEASE = ".lease";
export const CLAIM = ".claim";
const PARTIAL = ".part";

const DIGEST = /^[0-9a-f]{64}/;

/** Returns the digest in the name of a file in `images`, if the name ends with `extension`. */
export function digestOf(name: string, extension: string): string | undefined {
  const isOne =
    name.endsWith(extension) && name.length === 64 + extension.length && DIGEST.test(name);
  return isOne ? name.slice(0, 64) : undefined;
}

/** Returns the number of bytes that the name of a file in `filling` reserves. */
export function reservedBy(name: string): number {
  const [, reserved = "0"] = /^[0-9a-f]{64}\.(\d{1,16})\.part$/.exec(name) ?? [];
  return Number(reserved);
}

/** Returns the key that a file in `filling` belongs to. */
export function keyOf(name: string): string | undefined {
  return /^([0-9a-f]{64})\./.exec(name)?.[1];
}

/** The unit of `blocks` in the result of `stat`, in bytes. */
const STAT_BLOCK = 512;

/** Returns the `lstat` of a path, or undefined if nothing is there. @throws {SnapshotError} `ERR_CACHE` */
export function lstatIfPresent(path: string): BigIntStats | undefined {
  return wrapSystemErrorsSync("ERR_CACHE", `cannot stat ${path}`, () =>
    lstatSync(path, { bigint: true, throwIfNoEntry: false }),
  );
}

/** Returns the disk usage of a file, in bytes. */
export function diskUsage(stats: { readonly blocks: bigint } | undefined): number {
  return stats === undefined ? 0 : Number(stats.blocks) * STAT_BLOCK;
}

/** The errors of a rename onto a directory, or of a directory onto a file. */
const IN_THE_WAY: ReadonlySet<unknown> = new Set(["EISDIR", "ENOTDIR", "ENOTEMPTY", "EEXIST"]);

/** Awaits a change to a cache and reports failed system calls as `ERR_CACHE`. */
export function changing<T>({ directory }: Layout, change: Promise<T>): Promise<T> {
  return wrapSystemErrors("ERR_CACHE", `cannot write to the cache ${directory}`, change);
}

/** Deletes a file, or a directory with its contents. Does nothing if the path does not exist; does not follow links. */
export function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** Renames a file, replacing whatever has the new name. */
export async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!IN_THE_WAY.has((error as NodeJS.ErrnoException).code)) throw error;
    await remove(to);
    await rename(from, to);
  }
}

/** Writes a file, replacing whatever has its name. @param isSynced whether to fsync it. Default: `false` */
export async function writeFile(
  path: string,
  content: string | Uint8Array,
  isSynced = false,
): Promise<void> {
  await remove(path);
  const file = await open(path, "wx", PRIVATE_MODE);
  try {
    await file.writeFile(content);
    if (isSynced) await file.sync();
  } finally {
    await file.close();
  }
}
