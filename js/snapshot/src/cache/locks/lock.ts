import { fstatSync } from "node:fs";
import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

import { pause } from "../../abort.js";
import { SnapshotError } from "../../error.js";
import type { Libc } from "../../local/libc.js";
import { leadsTo } from "../../local/other-file.js";

/** What `flock` is told. It never waits: that would stop the whole process. */
const [LOCK_SH_NB, LOCK_EX_NB, LOCK_UN] = [1 | 4, 2 | 4, 8];

/** What the system says of a lock that someone else has, or of a signal. */
const BUSY: ReadonlySet<number> = new Set([constants.errno.EWOULDBLOCK, constants.errno.EINTR]);

/** How often a lock is tried that someone else has, in milliseconds: the longer, the less often. */
const [FIRST_PAUSE, LAST_PAUSE] = [1, 16];

/** How long is waited for others, who need milliseconds, before it is told, in milliseconds. */
const PATIENCE = 60_000;

/** Locks an open file as one of many. Returns false if someone has it alone. @throws {SnapshotError} `ERR_CACHE` */
export function lockShared(libc: Libc, fd: number): boolean {
  return isLocked(libc.flock(fd, LOCK_SH_NB));
}

/** Locks an open file alone. Returns false if anyone has it. @throws {SnapshotError} `ERR_CACHE` */
export function lockAlone(libc: Libc, fd: number): boolean {
  return isLocked(libc.flock(fd, LOCK_EX_NB));
}

function isLocked(result: number): boolean {
  if (result === 0) return true;
  if (BUSY.has(-result)) return false;
  const reason = getSystemErrorMap().get(result)?.[0] ?? String(-result);
  throw new SnapshotError("ERR_CACHE", `cannot lock a file of the cache: ${reason}`);
}

/** The lock under which files of a cache come and go: for one at a time, of all processes. */
export class CacheLock {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #path: string;
  readonly #name: string;
  /** Whoever has it in this process, and those who wait for it. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param fd the file at `path`, which is open
   * @param name the directory, for messages
   */
  constructor(libc: Libc, fd: number, path: string, name: string) {
    this.#libc = libc;
    this.#fd = fd;
    this.#path = path;
    this.#name = name;
  }

  /**
   * Has nobody else do anything of the kind meanwhile.
   *
   * @param signal ends the wait for others
   * @throws {SnapshotError} `ERR_CACHE`, what `action` throws, and the reason of the signal
   */
  run<T>(action: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    const result = this.#last.then(() => this.#locked(action, signal));
    this.#last = result.catch(() => {});
    return result;
  }

  /** Whether others lock the same file. */
  #isInPlace(): Promise<boolean> {
    return leadsTo(this.#path, fstatSync(this.#fd, { bigint: true }));
  }

  async #locked<T>(action: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const begun = performance.now();
    signal?.throwIfAborted();
    for (let wait = FIRST_PAUSE; !lockAlone(this.#libc, this.#fd); ) {
      if (performance.now() - begun > PATIENCE) {
        const message = `${this.#name}: expected the lock of the cache within ${PATIENCE} ms`;
        throw new SnapshotError("ERR_CACHE", `${message}, found that another process has it`);
      }
      await pause(wait, signal);
      wait = Math.min(2 * wait, LAST_PAUSE);
    }
    try {
      if (!(await this.#isInPlace())) {
        const message = `${this.#name}: expected the cache that was opened, found that it was removed`;
        throw new SnapshotError("ERR_CACHE", message);
      }
      return await action();
    } finally {
      this.#libc.flock(this.#fd, LOCK_UN);
    }
  }
}
