/** Opens a cache: checks or makes its directory, and makes the components that work on it. */
import { constants, fstatSync } from "node:fs";
import { access, type FileHandle, mkdir, open, readdir, realpath, stat } from "node:fs/promises";

import { SnapshotError } from "../error.js";
import { type Libc, libc } from "../local/libc.js";
import { flock, Mutex } from "../local/locks.js";
import { isSameFile, READ_FLAGS } from "../local/open-file.js";
import {
  checkOwnDirectory,
  openPrivate,
  PRIVATE_DIRECTORY,
  PRIVATE_MODE,
} from "../local/private-file.js";
import { isReadOnlyError, undefinedIfMissing, wrapSystemErrors } from "../local/system-errors.js";
import { Claims } from "./claims.js";
import { Evictor } from "./eviction.js";
import { Layout, type OpenDirectory, remove } from "./files.js";
import { ImageWriter } from "./fill.js";
import { ImageLoader } from "./image-loader.js";
import { ImageStore } from "./image-store.js";
import { Leases } from "./leases.js";
import { INDEX_LENGTH, SourceIndex } from "./source-index.js";
import { Counters, Totals } from "./statistics.js";
import { Verifier } from "./verification.js";

/** Options of `ImageCache.open`. */
export interface CacheOptions {
  /** Maximum disk usage of the directory, in bytes. At least 1 MiB. Required. */
  readonly maxBytes: number;
  /** Whether to turn a missing or empty directory into a cache. Default: `true`. */
  readonly create?: boolean | undefined;
  /**
   * Verifies images continuously in the background at this rate, in bytes per second, and evicts damaged
   * ones. Only one of the processes that share the cache does so at a time. Default: no background
   * verification.
   */
  readonly verifyBytesPerSecond?: number | undefined;
}

/** The components of an open cache. */
export interface CacheComponents {
  readonly layout: Layout;
  readonly maxBytes: number;
  readonly counters: Counters;
  readonly totals: Totals;
  readonly leases: Leases;
  readonly store: ImageStore;
  readonly writer: ImageWriter;
  readonly loader: ImageLoader;
  readonly verifier: Verifier;
  /** Closes the files of the cache. Nothing else may be used afterwards. */
  close(): Promise<void>;
}

/** Opens a directory as a cache, and makes the components that work on it. @throws {SnapshotError} `ERR_CACHE` */
export async function openComponents(
  path: string,
  { maxBytes, create = true, verifyBytesPerSecond }: CacheOptions,
): Promise<CacheComponents> {
  const directory = await openDirectory(path, create);
  const { layout, isReadOnly } = directory;
  const close = async () => {
    await directory.sources?.close();
    await directory.lock.close();
  };
  try {
    const counters = new Counters();
    const totals = new Totals(directory);
    const leases = new Leases(directory);
    const claims = new Claims(layout);
    const evictor = new Evictor(directory, claims, counters, maxBytes);
    const store = new ImageStore(directory, leases, evictor, counters);
    const writer = new ImageWriter(directory, leases, evictor);
    const sources = new SourceIndex(directory.sources, isReadOnly);
    const loader = new ImageLoader(directory, store, writer, claims, sources, counters);
    const verifier = new Verifier(directory, leases, store);
    if (!isReadOnly) await store.recover();
    if (verifyBytesPerSecond !== undefined) verifier.start(verifyBytesPerSecond);
    return { layout, maxBytes, counters, totals, leases, store, writer, loader, verifier, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Windows lacks the last flag, but a cache needs Linux anyway. */
const { O_RDWR, O_CREAT, O_NOFOLLOW = 0, W_OK } = constants;

/** The content of the file that marks a directory as a cache: its kind and version. */
const KIND = "hedgerow image cache 1\n";

/**
 * Opens a directory as a cache. With `create`, an empty or missing directory becomes one.
 *
 * @throws {SnapshotError} `ERR_CACHE` if it is not a cache, or if another user could write to it
 */
async function openDirectory(path: string, create: boolean): Promise<OpenDirectory> {
  const system = await libc();
  if (system === undefined) {
    const message = "a cache needs Linux on x64 or arm64, and the optional package koffi";
    throw new SnapshotError("ERR_CACHE", message);
  }
  const using = <T>(result: Promise<T>) =>
    wrapSystemErrors("ERR_CACHE", `cannot use ${path} as a cache`, result);
  if (create) await using(mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY }));
  const directory = await using(undefinedIfMissing(realpath(path)));
  if (directory === undefined) {
    throw new SnapshotError("ERR_CACHE", `${path}: expected a cache, found nothing`);
  }
  const layout = new Layout(directory);
  await checkOwnDirectory("ERR_CACHE", directory, path);
  await using(checkKind(path, layout, create));
  const isReadOnly = await using(isFixed(layout));
  const flags = isReadOnly ? READ_FLAGS : O_RDWR | O_CREAT | O_NOFOLLOW;
  const lock = await using(open(layout.lock, flags, PRIVATE_MODE));
  const mutex = new Mutex("ERR_CACHE", path, () => tryLock(system, lock.fd, layout.lock, path));
  const opened = { libc: system, layout, mutex, lock, isReadOnly };
  let sources: FileHandle | undefined;
  try {
    await using(writeKind(path, lock));
    for (const subdirectory of [layout.images, layout.filling]) {
      await using(mkdir(subdirectory, { recursive: true, mode: PRIVATE_DIRECTORY }));
      await checkOwnDirectory("ERR_CACHE", subdirectory);
    }
    if (isReadOnly) {
      // It only saves requests.
      sources = await open(layout.sources, READ_FLAGS).catch(() => undefined);
      return { ...opened, sources };
    }
    sources = await using(openPrivate(layout.sources, layout.sources, remove));
    const { size } = await using(sources.stat());
    // The index takes all of its space at once, so that it never grows beyond the limit.
    if (size < INDEX_LENGTH)
      await using(sources.write(Buffer.alloc(INDEX_LENGTH - size), 0, undefined, size));
    return { ...opened, sources };
  } catch (error) {
    await sources?.close();
    await lock.close();
    throw error;
  }
}

/**
 * Tries to take the cache lock.
 *
 * @param name the directory, for messages
 * @throws {SnapshotError} `ERR_CACHE` if the locked file is no longer the one in the directory
 */
async function tryLock(
  system: Libc,
  fd: number,
  path: string,
  name: string,
): Promise<{ close(): Promise<void> } | undefined> {
  if (!flock(system, fd, "exclusive")) return undefined;
  const close = async () => void flock(system, fd, "unlock");
  if (await isSameFile(path, fstatSync(fd, { bigint: true }))) return { close };
  await close();
  throw new SnapshotError("ERR_CACHE", `${name}: the cache was removed while it was open`);
}

/** Returns whether a directory is a cache that cannot be changed, as on a read-only file system. */
async function isFixed({ directory, lock }: Layout): Promise<boolean> {
  try {
    await access(directory, W_OK);
    return false;
  } catch (error) {
    if (isReadOnlyError(error)) return (await undefinedIfMissing(stat(lock))) !== undefined;
    throw error;
  }
}

/** Throws unless a directory is a cache or, with `create`, empty: a cache must not delete other files. */
async function checkKind(
  name: string,
  { directory, lock }: Layout,
  create: boolean,
): Promise<void> {
  if ((await undefinedIfMissing(stat(lock))) !== undefined) return;
  if (!create)
    throw new SnapshotError(
      "ERR_CACHE",
      `${name}: expected a cache, found a directory that is not one`,
    );
  const [other] = await readdir(directory);
  if (other === undefined || (await undefinedIfMissing(stat(lock))) !== undefined) return;
  const message = `${name}: expected a cache or an empty directory, found ${JSON.stringify(other)} in it`;
  throw new SnapshotError("ERR_CACHE", message);
}

/** Writes the kind of the cache, unless it is there. */
async function writeKind(name: string, lock: FileHandle): Promise<void> {
  const bytes = Buffer.alloc(KIND.length + 1);
  const { bytesRead } = await lock.read(bytes, 0, bytes.length, 0);
  const found = bytes.toString("latin1", 0, bytesRead);
  if (found === KIND) return;
  // A process that was killed while writing it leaves a prefix.
  if (!KIND.startsWith(found)) {
    const message = `${name}: expected ${JSON.stringify(KIND)}, found ${JSON.stringify(found)}`;
    throw new SnapshotError("ERR_CACHE", message);
  }
  await lock.write(KIND, 0, "latin1");
}
