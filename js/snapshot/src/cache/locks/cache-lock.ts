import { fstatSync } from "node:fs";

import { pause } from "../../abort.js";
import { SnapshotError } from "../../error.js";
import type { Libc } from "../../local/libc.js";
import { isSameFile } from "../../local/same-file.js";
import { lockExclusive, unlock } from "./flock.js";

/** The first and the longest pause between attempts to take the lock, in milliseconds. */
const [FIRST_PAUSE, LAST_PAUSE] = [1, 16];

/** The maximum time to wait for another process, which holds the lock for milliseconds, in milliseconds. */
const PATIENCE = 60_000;

/** The lock that serializes changes to the files of a cache, across all processes. */
export class CacheLock {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #path: string;
  readonly #name: string;
  /** Settles when all earlier actions of this process have ended. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param fd the open file at `path`
   * @param name the directory, for messages
   */
  constructor(libc: Libc, fd: number, path: string, name: string) {
    this.#libc = libc;
    this.#fd = fd;
    this.#path = path;
    this.#name = name;
  }

  /**
   * Runs an action while holding the lock.
   *
   * @param signal cancels waiting for the lock
   * @throws {SnapshotError} `ERR_CACHE`, what `action` throws, and the reason of the signal
   */
  run<T>(action: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    const result = this.#last.then(() => this.#locked(action, signal));
    this.#last = result.catch(() => {});
    return result;
  }

  /** Returns whether the locked file is still the one in the directory. */
  #isInPlace(): Promise<boolean> {
    return isSameFile(this.#path, fstatSync(this.#fd, { bigint: true }));
  }

  async #locked<T>(action: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const begun = performance.now();
    signal?.throwIfAborted();
    for (let wait = FIRST_PAUSE; !lockExclusive(this.#libc, this.#fd); ) {
      if (performance.now() - begun > PATIENCE) {
        const message = `${this.#name}: another process has held the cache lock for ${PATIENCE} ms`;
        throw new SnapshotError("ERR_CACHE", message);
      }
      await pause(wait, signal);
      wait = Math.min(2 * wait, LAST_PAUSE);
    }
    try {
      if (!(await this.#isInPlace())) {
        const message = `${this.#name}: the cache was removed while it was open`;
        throw new SnapshotError("ERR_CACHE", message);
      }
      return await action();
    } finally {
      unlock(this.#libc, this.#fd);
    }
  }
}
