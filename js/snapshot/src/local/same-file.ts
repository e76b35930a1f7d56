import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";

import { SnapshotError } from "../error.js";

/** Device and inode number of a file, which identify it on its machine. */
export type FileId = Pick<BigIntStats, "dev" | "ino">;

/**
 * Throws if the target is the file that is being read.
 *
 * @param what name of the argument with the target
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export async function checkDifferentFile(
  what: string,
  target: string,
  from: FileId,
): Promise<void> {
  if (!(await isSameFile(target, from))) return;
  const message = `${what}: expected a path other than that of the file that is read, found ${target}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns whether a path, with links resolved, is the file with this device and inode number. */
export async function isSameFile(path: string, { dev, ino }: FileId): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found?.dev === dev && found.ino === ino;
}

/** Throws if a path to write to leads to the file at another path, if there is one. @throws {SnapshotError} `ERR_ARGUMENT` */
export async function checkDifferentPath(name: string, path: string, other: string): Promise<void> {
  const found = await stat(other, { bigint: true }).catch(() => undefined);
  if (found !== undefined) await checkDifferentFile(name, path, found);
}
