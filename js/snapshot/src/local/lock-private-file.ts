import type { FileHandle } from "node:fs/promises";

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
export async function lockPrivateFile(
  target: string,
  path: string,
  remove?: (path: string) => Promise<void>,
): Promise<FileHandle | undefined> {
  const system = await libc();
  if (system === undefined) return undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const handle = await openPrivate(target, path, remove);
    const isLocked = system.flock(handle.fd, LOCK_EX_NB) === 0;
    // The previous holder may have removed the file.
    const id = await handle.stat({ bigint: true }).catch(() => undefined);
    if (isLocked && id !== undefined && (await isSameFile(path, id))) return handle;
    await handle.close();
    if (!isLocked) return undefined;
  }
  return undefined;
}
