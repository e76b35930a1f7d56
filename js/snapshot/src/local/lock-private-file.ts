import type { FileHandle } from "node:fs/promises";

import { libc } from "./libc.js";
import { leadsTo } from "./other-file.js";
import { openPrivate } from "./private-file.js";

/** What `flock` is told: to lock for one alone, and not to wait for it. */
const LOCK_EX_NB = 2 | 4;

/** How often a file may go while it is being claimed. */
const MAX_TRIES = 10;

/**
 * Opens a file of this user's for this process alone, for as long as it is open: the system lets go of
 * it, even if the process is killed. Returns undefined if another process has it, or if the system
 * cannot tell, for which it needs the optional package `koffi`.
 *
 * @param target what it is for, for messages
 * @param remove has go what is in its place: see {@link openPrivate}
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function claimPrivate(
  target: string,
  path: string,
  remove?: (path: string) => Promise<void>,
): Promise<FileHandle | undefined> {
  const system = await libc();
  if (system === undefined) return undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const handle = await openPrivate(target, path, remove);
    const isLocked = system.flock(handle.fd, LOCK_EX_NB) === 0;
    // Who had it before may have removed it meanwhile.
    const id = await handle.stat({ bigint: true }).catch(() => undefined);
    if (isLocked && id !== undefined && (await leadsTo(path, id))) return handle;
    await handle.close();
    if (!isLocked) return undefined;
  }
  return undefined;
}
