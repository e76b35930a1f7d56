import { randomUUID } from "node:crypto";
import { type FileHandle, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

import { SnapshotError } from "../error.js";
import { withFile } from "./system-failure.js";

/** Only whoever makes a file may read it: an image has all that was on a disk. */
const MODE = 0o600;

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
  signal: AbortSignal | undefined,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const target = await checkedTarget(path);
  const partial = join(dirname(target), `.hedgerow-${randomUUID()}.tmp`);
  const file = await writing(path, open(partial, "wx+", MODE));
  try {
    const result = await write(file);
    await writing(path, file.sync());
    await writing(path, file.close());
    signal?.throwIfAborted();
    await writing(path, rename(partial, target));
    await syncDirectory(dirname(target));
    return result;
  } catch (error) {
    // What went wrong first is what there is to tell.
    await file.close().catch(() => {});
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
}

/** What a path leads to, if a file may be there. */
async function checkedTarget(path: string): Promise<string> {
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
  if (found.isFile()) return writing(path, realpath(path));
  const kind = found.isDirectory() ? "a directory" : "something else";
  throw new SnapshotError("ERR_TARGET", `${path}: expected a file or nothing, found ${kind}`);
}

async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
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
