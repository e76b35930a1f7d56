/**
 * Changes to the files of a cache. The names in its directory belong to the cache, so that anything found under
 * one of them, even a directory, is deleted or replaced.
 */
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { PRIVATE_MODE } from "../../local/private-file.js";
import { wrapSystemErrors } from "../../local/system-errors.js";
import type { Layout } from "./layout.js";

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

/** Writes a file, replacing whatever has its name. */
export function writeFile(path: string, content: string): Promise<void> {
  return withNewFile(path, (file) => file.writeFile(content));
}

/** Writes a file and fsyncs it, replacing whatever has its name. */
export function writeSynced(path: string, content: Uint8Array): Promise<void> {
  return withNewFile(path, async (file) => {
    await file.writeFile(content);
    await file.sync();
  });
}

async function withNewFile(path: string, write: (file: FileHandle) => Promise<void>) {
  await remove(path);
  const file = await open(path, "wx", PRIVATE_MODE);
  try {
    await write(file);
  } finally {
    await file.close();
  }
}
