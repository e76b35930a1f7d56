import type { FileHandle } from "node:fs/promises";

import { SnapshotError } from "../error.js";
import { libc } from "./libc.js";
import { openPrivate } from "./private-file.js";
import { isSameFile } from "./same-file.js";

/** Operation of `flock`: an exclusive lock, without waiting. */
const LOCK_EX_NB = 2 | 4;

/** Attempts to lock a file that other processes keep removing. */
const MAX_TRIES = 10;

/**
 * Opens a private file of this user and locks it until it is closed; the kernel also releases the lock
 * when the process is killed. Returns undefined if another process holds the lock, or if files cannot be
 * locked because the optional package `koffi` is missing.
 *
 * @param target name of the file in messages
 * @param remove removes a file that is not private: see {@link openPrivate}
 * @throws {SnapshotError} `ERR_TARGET`
 */
export function lockPrivateFile(
  target: string,
  path: string,
  remove?: (path: string) => Promise<void>,
): Promise<FileHandle | undefined> {
  return lockOpened(path, () => openPrivate(target, path, remove));
}

/**
 * Does the same with a file that has another mode or several names: a process may hold its lock since it was private.
 * Nothing at the path is removed.
 *
 * @throws {SnapshotError} `ERR_TARGET` if it is not a regular file that this user can open
 */
export function lockFile(path: string): Promise<FileHandle | undefined> {
  const refuse = async () => {
    const message = `${path}: expected a regular file that this user may read and write`;
    throw new SnapshotError("ERR_TARGET", message);
  };
  return lockOpened(path, () => openPrivate(path, path, refuse, (found) => found.isFile()));
}

async function lockOpened(
  path: string,
  open: () => Promise<FileHandle>,
): Promise<FileHandle | undefined> {
  const system = await libc();
  if (system === undefined) return undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const handle = await open();
    const isLocked = system.flock(handle.fd, LOCK_EX_NB) === 0;
    // The previous holder may have removed the file.
    const id = await handle.stat({ bigint: true }).catch(() => undefined);
    if (isLocked && id !== undefined && (await isSameFile(path, id))) return handle;
    await handle.close();
    if (!isLocked) return undefined;
  }
  return undefined;
}
