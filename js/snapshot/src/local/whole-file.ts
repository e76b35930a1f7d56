import { randomUUID } from "node:crypto";
import { type FileHandle, link, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

import { SnapshotError } from "../error.js";
import { withFile } from "./system-failure.js";

/** Only whoever makes a file may read it: an image has all that was on a disk. */
export const PRIVATE = 0o600;

/** How a file is written. */
export interface WholeOptions {
  /** Ends the work. */
  readonly signal?: AbortSignal | undefined;
  /** Whether a file that is there goes: so unless it is said. */
  readonly overwrite?: boolean | undefined;
  /** Whether it is on the disk when it appears, and outlasts a loss of power: so unless it is said. */
  readonly isDurable?: boolean | undefined;
}

/**
 * Writes a file whole or not at all: `write` fills a temporary file beside it, which takes its place
 * when all is on the disk. If anything fails, what was there before stays, and the temporary file goes.
 *
 * A link is followed, so that it still leads to the file afterwards. The temporary file is called
 * `.hedgerow-*.tmp`; it stays if the process is killed.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function writeWhole<T>(
  path: string,
  options: WholeOptions,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const target = await checkedTarget(path, options);
  const partial = join(dirname(target), `.hedgerow-${randomUUID()}.tmp`);
  const file = await writing(path, open(partial, "wx+", PRIVATE));
  try {
    const result = await write(file);
    await finish(path, { file, partial, target }, options);
    return result;
  } catch (error) {
    // What went wrong first is what there is to tell.
    await file.close().catch(() => {});
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
}

/** A file that is written, and where it goes. */
export interface Written {
  readonly file: FileHandle;
  readonly partial: string;
  readonly target: string;
}

/**
 * Has a file that is written be on the disk, if it is to be durable, and gives it its name.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function finish(
  path: string,
  { file, partial, target }: Written,
  { signal, overwrite = true, isDurable = true }: WholeOptions,
): Promise<void> {
  if (isDurable) await writing(path, file.sync());
  await writing(path, file.close());
  signal?.throwIfAborted();
  if (overwrite) await writing(path, rename(partial, target));
  else await appear(path, partial, target);
  if (isDurable) await syncDirectory(dirname(target));
}

/** Gives a file another name, if nothing has that name: `rename` would replace what has it. */
async function appear(path: string, partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw exists(path);
    throw await writing(path, Promise.reject(cause));
  }
  // The file is there, whatever becomes of its first name.
  await rm(partial).catch(() => {});
}

function exists(path: string): SnapshotError {
  return new SnapshotError("ERR_TARGET", `${path}: expected nothing there, found a file`);
}

/** What a path leads to, if a file may be there. @throws {SnapshotError} `ERR_TARGET` */
export async function checkedTarget(
  path: string,
  { overwrite = true }: WholeOptions,
): Promise<string> {
  const found = await writing(path, unlessMissing(stat(path)));
  if (found === undefined) {
    if (path.endsWith("/") || path.endsWith(sep)) {
      throw new SnapshotError("ERR_TARGET", `${path}: expected the name of a file`);
    }
    if ((await writing(path, unlessMissing(lstat(path)))) !== undefined) {
      throw new SnapshotError("ERR_TARGET", `${path}: expected a file, found a link to nothing`);
    }
    const directory = await writing(path, unlessMissing(stat(dirname(path))));
    if (directory?.isDirectory()) return path;
    throw new SnapshotError("ERR_TARGET", `${path}: expected a directory at ${dirname(path)}`);
  }
  if (found.isFile() && !overwrite) throw exists(path);
  if (found.isFile()) return writing(path, realpath(path));
  const kind = found.isDirectory() ? "a directory" : "something else";
  throw new SnapshotError("ERR_TARGET", `${path}: expected a file or nothing, found ${kind}`);
}

/** The result, or undefined if there is no such file. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Has the system remember the name, too, where it can. Without it the name may lead to the old file after
 * a loss of power, which is as whole as the new one.
 */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r").catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close();
}

/** The result of writing a file. What the system refuses is told as `ERR_TARGET`. */
export function writing<T>(path: string, result: Promise<T>): Promise<T> {
  return withFile("ERR_TARGET", `cannot write ${path}`, result);
}
