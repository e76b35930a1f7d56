/** Durable and atomic writes: a file appears complete or not at all, and survives a power failure if it must. */
import { randomUUID } from "node:crypto";
import { type FileHandle, link, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { constants } from "node:os";
import { dirname, join, sep } from "node:path";

import { SnapshotError } from "../error.js";
import { libc } from "./libc.js";
import { kindOf } from "./open-file.js";
import { PRIVATE_MODE } from "./private-file.js";
import { undefinedIfMissing, wrapWriteErrors } from "./system-errors.js";

/** Options of {@link writeAtomically}. */
export interface AtomicWriteOptions {
  /** Aborts writing. */
  readonly signal?: AbortSignal | undefined;
  /** Whether to replace an existing file. Default: `true`. */
  readonly overwrite?: boolean | undefined;
  /** Whether to fsync the file before it appears, to survive a power failure. Default: `true`. */
  readonly isDurable?: boolean | undefined;
  /** Whether to follow a symbolic link at the path, which then stays one. Default: `true`, for paths that a user names. */
  readonly followsLinks?: boolean | undefined;
}

/**
 * Writes a file atomically: `write` fills a temporary file in the same directory, which then replaces the
 * target. If anything fails, the target is unchanged and the temporary file is removed.
 *
 * The temporary file is called `.hedgerow-*.tmp`; it is left behind if the process is killed.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function writeAtomically<T>(
  path: string,
  options: AtomicWriteOptions,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const target = await resolveTarget(path, options);
  const partial = join(dirname(target), `.hedgerow-${randomUUID()}.tmp`);
  const file = await wrapWriteErrors(path, open(partial, "wx+", PRIVATE_MODE));
  try {
    const { isDurable = true } = options;
    const result = await (isDurable ? withWriteback(file, () => write(file)) : write(file));
    await publishFile(path, { file, partial, target }, options);
    return result;
  } catch (error) {
    // Report the first error.
    await file.close().catch(() => {});
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
}

/** A temporary file that is complete, and its target. */
export interface CompleteFile {
  readonly file: FileHandle;
  readonly partial: string;
  readonly target: string;
}

/**
 * Closes a complete temporary file, and renames it to its target, after an fsync if it must be durable.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function publishFile(
  path: string,
  { file, partial, target }: CompleteFile,
  { signal, overwrite = true, isDurable = true }: AtomicWriteOptions,
): Promise<void> {
  try {
    if (isDurable) await wrapWriteErrors(path, file.sync());
  } finally {
    await wrapWriteErrors(path, file.close());
  }
  signal?.throwIfAborted();
  if (overwrite) await wrapWriteErrors(path, rename(partial, target));
  else await publishNew(path, partial, target);
  if (isDurable) await syncDirectory(dirname(target));
}

/** Links a file to its target unless that exists: `rename` would replace it. */
async function publishNew(path: string, partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw exists(path);
    // File systems without links report this in various ways.
    return renameNew(path, partial, target);
  }
  // The target exists now. A temporary name that cannot be removed is harmless.
  await rm(partial).catch(() => {});
}

/** Renames a file to its target unless that exists, on a file system without links. */
async function renameNew(path: string, partial: string, target: string): Promise<void> {
  const result = await (await libc())?.renameNew(partial, target);
  if (result === 0) return;
  if (result === -constants.errno.EEXIST) throw exists(path);
  // The file system cannot rename without replacing: an empty file takes the name first. A kill before the rename
  // leaves it behind.
  const reserved = await open(target, "wx", PRIVATE_MODE).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") throw exists(path);
    return wrapWriteErrors(path, Promise.reject(error));
  });
  try {
    await wrapWriteErrors(path, reserved.close());
    await wrapWriteErrors(path, rename(partial, target));
  } catch (error) {
    await rm(target, { force: true }).catch(() => {});
    throw error;
  }
}

function exists(path: string): SnapshotError {
  return new SnapshotError(
    "ERR_TARGET",
    `${path} already exists; pass overwrite: true to replace it`,
  );
}

/** Returns the path to write to, with links resolved. @throws {SnapshotError} `ERR_TARGET` */
export async function resolveTarget(
  path: string,
  { overwrite = true, followsLinks = true }: AtomicWriteOptions,
): Promise<string> {
  // A rename replaces the link itself.
  if (!followsLinks) return path;
  const found = await wrapWriteErrors(path, undefinedIfMissing(stat(path)));
  if (found === undefined) {
    if (path.endsWith("/") || path.endsWith(sep)) {
      throw new SnapshotError(
        "ERR_TARGET",
        `${path}: expected the path of a file, found that of a directory`,
      );
    }
    if ((await wrapWriteErrors(path, undefinedIfMissing(lstat(path)))) !== undefined) {
      throw new SnapshotError("ERR_TARGET", `${path}: expected a file, found a dangling link`);
    }
    const directory = await wrapWriteErrors(path, undefinedIfMissing(stat(dirname(path))));
    if (directory?.isDirectory()) return path;
    const reason = directory === undefined ? "does not exist" : "is not a directory";
    throw new SnapshotError("ERR_TARGET", `cannot write ${path}: ${dirname(path)} ${reason}`);
  }
  if (found.isFile() && !overwrite) throw exists(path);
  if (found.isFile()) return wrapWriteErrors(path, realpath(path));
  throw new SnapshotError(
    "ERR_TARGET",
    `${path}: expected a file or no file, found ${kindOf(found)}`,
  );
}

/** Errors of a directory that cannot be flushed now, unlike those of systems that never can. */
const UNSYNCED: ReadonlySet<unknown> = new Set(["EIO", "ENOSPC", "EDQUOT", "EMFILE", "ENFILE"]);

/**
 * Flushes a directory to the disk, where the system can. Without it, the name may lead to the old file after a
 * power failure, which is complete too.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function syncDirectory(path: string): Promise<void> {
  let directory: FileHandle | undefined;
  try {
    directory = await open(path, "r");
    await directory.sync();
  } catch (error) {
    if (UNSYNCED.has((error as NodeJS.ErrnoException).code))
      await wrapWriteErrors(path, Promise.reject(error));
  } finally {
    await directory?.close();
  }
}

/** How often the kernel is asked to write, in milliseconds. */
const WRITEBACK_INTERVAL = 50;

/**
 * Calls `use`, which fills a file, while the kernel already writes it to the disk. Otherwise the disk would be idle
 * until the fsync. An fsync is still needed, and reports failures.
 */
export async function withWriteback<T>(file: FileHandle, use: () => Promise<T>): Promise<T> {
  let running: Promise<void> | undefined;
  const start = async () => {
    // If it fails, the fsync says why.
    await (await libc())?.startWriteback(file.fd).catch(() => {});
    running = undefined;
  };
  const timer = setInterval(() => {
    running ??= start();
  }, WRITEBACK_INTERVAL);
  try {
    return await use();
  } finally {
    clearInterval(timer);
    // The file must stay open until then.
    await running;
  }
}

/**
 * Makes the data of an open file durable. If that fails once, every later call fails, too: the system reports the failure
 * once, and may have dropped the data.
 */
export class FileSync {
  #failed: { readonly error: unknown } | undefined;

  /** @param path the path of the file, for messages */
  constructor(
    private readonly path: string,
    private readonly file: FileHandle,
  ) {}

  /** Calls `fdatasync`, or `fsync`. @throws {SnapshotError} `ERR_TARGET` */
  async run(call: "datasync" | "sync" = "datasync"): Promise<void> {
    this.throwIfFailed();
    try {
      await wrapWriteErrors(this.path, this.file[call]());
    } catch (error) {
      this.#failed = { error };
      throw error;
    }
  }

  /** @throws {SnapshotError} `ERR_TARGET` if an earlier call of {@link run} has failed */
  throwIfFailed(): void {
    if (this.#failed !== undefined) throw this.#failed.error;
  }
}
