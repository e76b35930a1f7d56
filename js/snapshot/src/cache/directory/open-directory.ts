import { constants, fstatSync } from "node:fs";
import { access, type FileHandle, mkdir, open, readdir, realpath, stat } from "node:fs/promises";

import { SnapshotError } from "../../error.js";
import type { Libc } from "../../local/libc.js";
import { flock } from "../../local/locks.js";
import { isSameFile, READ_FLAGS } from "../../local/open-file.js";
import {
  OTHERS_WRITE,
  openPrivate,
  PRIVATE_DIRECTORY,
  PRIVATE_MODE,
} from "../../local/private-file.js";
import {
  isReadOnlyError,
  undefinedIfMissing,
  wrapSystemErrors,
} from "../../local/system-errors.js";
import { Layout } from "./layout.js";
import { INDEX_LENGTH } from "./source-index.js";
import { remove } from "./write-files.js";

/** Windows lacks the last flag, but a cache needs Linux anyway. */
const { O_RDWR, O_CREAT, O_NOFOLLOW = 0, W_OK } = constants;

/** The content of the file that marks a directory as a cache: its kind and version. */
const KIND = "hedgerow image cache 1\n";

/** The open directory of a cache. */
export interface OpenDirectory {
  readonly layout: Layout;
  /** The file that carries the cache lock and the clock. */
  readonly lock: FileHandle;
  /** The file of the source index. Only a directory that cannot be changed may have none. */
  readonly sources: FileHandle | undefined;
  /** Whether nothing can be changed, as on a read-only file system. */
  readonly isReadOnly: boolean;
}

/**
 * Opens a directory as a cache. With `create`, an empty or missing directory becomes one.
 *
 * @throws {SnapshotError} `ERR_CACHE` if it is not a cache, or if another user could write to it
 */
export async function openDirectory(path: string, create: boolean): Promise<OpenDirectory> {
  const using = <T>(result: Promise<T>) =>
    wrapSystemErrors("ERR_CACHE", `cannot use ${path} as a cache`, result);
  if (create) await using(mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY }));
  const directory = await using(undefinedIfMissing(realpath(path)));
  if (directory === undefined) {
    throw new SnapshotError("ERR_CACHE", `${path}: expected a cache, found nothing`);
  }
  const layout = new Layout(directory);
  await using(checkOwn(path, directory));
  await using(checkKind(path, layout, create));
  const isReadOnly = await using(isFixed(layout));
  const flags = isReadOnly ? READ_FLAGS : O_RDWR | O_CREAT | O_NOFOLLOW;
  const lock = await using(open(layout.lock, flags, PRIVATE_MODE));
  let sources: FileHandle | undefined;
  try {
    await using(writeKind(path, lock));
    for (const subdirectory of [layout.images, layout.filling]) {
      await using(mkdir(subdirectory, { recursive: true, mode: PRIVATE_DIRECTORY }));
      await using(checkOwn(subdirectory, subdirectory));
    }
    if (isReadOnly) {
      // It only saves requests.
      sources = await open(layout.sources, READ_FLAGS).catch(() => undefined);
      return { layout, lock, sources, isReadOnly };
    }
    sources = await using(openPrivate(layout.sources, layout.sources, remove));
    const { size } = await using(sources.stat());
    // The index takes all of its space at once, so that it never grows beyond the limit.
    if (size < INDEX_LENGTH)
      await using(sources.write(Buffer.alloc(INDEX_LENGTH - size), 0, undefined, size));
    return { layout, lock, sources, isReadOnly };
  } catch (error) {
    await sources?.close();
    await lock.close();
    throw error;
  }
}

/**
 * Tries to take the lock that serializes changes to the files of a cache, across all processes.
 *
 * @param name the directory, for messages
 * @throws {SnapshotError} `ERR_CACHE` if the locked file is no longer the one in the directory
 */
export async function tryCacheLock(
  system: Libc,
  { layout, lock: { fd } }: OpenDirectory,
  name: string,
): Promise<{ close(): Promise<void> } | undefined> {
  if (!flock(system, fd, "exclusive")) return undefined;
  const close = async () => void flock(system, fd, "unlock");
  if (await isSameFile(layout.lock, fstatSync(fd, { bigint: true }))) return { close };
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

async function checkOwn(name: string, path: string): Promise<void> {
  const stats = await stat(path);
  if (!stats.isDirectory()) throw new SnapshotError("ERR_CACHE", `${name}: expected a directory`);
  const { uid, mode } = stats;
  const user = process.getuid?.() ?? uid;
  if (uid !== user) {
    const message = `${name}: expected a directory owned by user ${user}, found owner ${uid}`;
    throw new SnapshotError("ERR_CACHE", message);
  }
  if ((mode & OTHERS_WRITE) === 0) return;
  const rights = (mode & 0o777).toString(8);
  const message = `${name}: expected a directory that only its owner can write to, found mode ${rights}`;
  throw new SnapshotError("ERR_CACHE", message);
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
