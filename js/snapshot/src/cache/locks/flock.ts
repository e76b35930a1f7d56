import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

import { SnapshotError } from "../../error.js";
import type { Libc } from "../../local/libc.js";

/** Operations of `flock`. None of them blocks, since that would block the whole process. */
const [LOCK_SH_NB, LOCK_EX_NB, LOCK_UN] = [1 | 4, 2 | 4, 8];

/** The errors of a lock that is held by someone else, or of a signal that arrived meanwhile. */
const BUSY: ReadonlySet<number> = new Set([constants.errno.EWOULDBLOCK, constants.errno.EINTR]);

/**
 * Tries to take a shared lock on an open file. Returns false if the file is locked exclusively.
 *
 * @throws {SnapshotError} `ERR_CACHE`
 */
export function lockShared(libc: Libc, fd: number): boolean {
  return isLocked(libc.flock(fd, LOCK_SH_NB));
}

/**
 * Tries to take an exclusive lock on an open file. Returns false if the file is locked.
 *
 * @throws {SnapshotError} `ERR_CACHE`
 */
export function lockExclusive(libc: Libc, fd: number): boolean {
  return isLocked(libc.flock(fd, LOCK_EX_NB));
}

/** Releases the lock on an open file. */
export function unlock(libc: Libc, fd: number): void {
  libc.flock(fd, LOCK_UN);
}

function isLocked(result: number): boolean {
  if (result === 0) return true;
  if (BUSY.has(-result)) return false;
  const reason = getSystemErrorMap().get(result)?.[0] ?? String(-result);
  throw new SnapshotError("ERR_CACHE", `cannot lock a file of the cache: ${reason}`);
}
