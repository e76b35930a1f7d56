/** Loads each image once for all processes of a cache, by a lock. */
import { type FileHandle, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";

import { SnapshotError } from "../error.js";
import { lockPrivateFile, untilLocked } from "../local/locks.js";
import { isSameFile } from "../local/open-file.js";
import { isReadOnlyError } from "../local/system-errors.js";
import { CLAIM, keyOf, type Layout, remove } from "./files.js";

/** Waiting for a claim that is held elsewhere. */
export interface ClaimOptions {
  /** Cancels waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Is called with the time spent waiting, in milliseconds. */
  onWaited(milliseconds: number): void;
}

/**
 * The claims of a cache: a process that restores an image or looks up a source holds the lock of its key, so that all
 * processes together do it once. If the holder fails or ends, the next waiting process gets the lock and tries.
 */
export class Claims {
  constructor(private readonly layout: Layout) {}

  /**
   * Runs `act` while holding the claim of a key, unless `find` finds that another process has done the work. If the
   * process of an earlier holder was killed, `act` finds its journal in the lock file.
   *
   * @throws {SnapshotError} `ERR_CACHE`, and what `find` and `act` throw
   */
  async run<T>(
    key: string,
    { signal, onWaited }: ClaimOptions,
    find: () => Promise<T | undefined>,
    act: (lockFile: FileHandle) => Promise<T>,
  ): Promise<T> {
    const begun = performance.now();
    let attempts = 0;
    const attempt = () => {
      attempts += 1;
      return this.#tryLock(key);
    };
    const lockFile = await untilLocked(attempt, signal);
    try {
      if (attempts > 1) onWaited(performance.now() - begun);
      return (await find()) ?? (await act(lockFile));
    } finally {
      await this.#release(key, lockFile);
    }
  }

  /** Deletes the files of a key that no process holds. Returns whether no process held it. */
  async removeAbandoned(key: string): Promise<boolean> {
    const lockFile = await this.#tryLock(key);
    if (lockFile === undefined) return false;
    await this.#release(key, lockFile);
    return true;
  }

  /** Locks and opens the file of a key. Returns undefined if it is held elsewhere. @throws {SnapshotError} `ERR_CACHE` */
  async #tryLock(key: string): Promise<FileHandle | undefined> {
    const { directory } = this.layout;
    try {
      return await lockPrivateFile(`a lock file in ${directory}`, this.layout.claim(key), remove);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      const message = isReadOnlyError(error)
        ? `${directory}: nothing can be added to this cache, which is read-only`
        : error.message;
      throw new SnapshotError("ERR_CACHE", message, { cause: error.cause });
    }
  }

  /** Deletes the files of a key, and unlocks it. */
  async #release(key: string, lockFile: FileHandle): Promise<void> {
    const { filling } = this.layout;
    const path = this.layout.claim(key);
    try {
      // The file may have been removed, and another process may hold a new one of that name.
      if (!(await isSameFile(path, await lockFile.stat({ bigint: true })))) return;
      for (const name of await readdir(filling)) {
        if (keyOf(name) === key && !name.endsWith(CLAIM)) await remove(join(filling, name));
      }
      await unlink(path);
    } catch {
      // The next process that opens the cache removes the files.
    } finally {
      await lockFile.close().catch(() => {});
    }
  }
}
