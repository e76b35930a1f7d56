import { type FileHandle, lstat, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

import { pause } from "../../abort.js";
import { SnapshotError } from "../../error.js";
import { lockPrivateFile } from "../../local/locks.js";
import { isSameFile } from "../../local/open-file.js";
import { isReadOnlyError } from "../../local/system-errors.js";
import { CLAIM, FAILURE, keyOf, type Layout } from "../directory/layout.js";
import { remove } from "../directory/write-files.js";
import { errorOf, type Failure, readFailure, writeFailure } from "./failures.js";

/** The pause between attempts to lock a key that another process holds, in milliseconds. */
const INTERVAL = 20;

/** How long a recorded failure is kept for those who waited, in milliseconds. */
const FAILURE_LIFE = 1_000;

/** How a key is locked. */
export interface LockOptions {
  /** Cancels waiting for the lock. */
  readonly signal?: AbortSignal | undefined;
  /** A digest of the source and credentials: a failure elsewhere applies to the same requester only. */
  readonly requester: string;
  /** Is called with the time spent waiting for another holder, in milliseconds. */
  onWaited(milliseconds: number): void;
}

/** How the holder of a lock ended, which it records on release. */
type Outcome =
  | "done"
  | "failed elsewhere"
  | "abandoned"
  | { readonly requester: string; readonly error: unknown };

/** Locks by key, across all processes. If the holder of a key fails, those who wait for it get its error. */
export class KeyedLock {
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /**
   * Runs `act` while holding the lock of a key, unless `find` finds that the work has been done meanwhile.
   *
   * If the holder's process ends, another one gets the lock and finds its file, a journal, as the holder left it.
   *
   * @throws {SnapshotError} `ERR_CACHE`, what `find` and `act` throw, and the failure of a holder that was waited for
   */
  async run<T>(
    key: string,
    options: LockOptions,
    find: () => Promise<T | undefined>,
    act: (lockFile: FileHandle) => Promise<T>,
  ): Promise<T> {
    let begun: number | undefined;
    const before = await readFailure(this.#layout, key);
    for (;;) {
      const lockFile = await this.#tryLock(key);
      if (lockFile !== undefined) {
        if (begun !== undefined) options.onWaited(performance.now() - begun);
        return await this.#runLocked(key, lockFile, options, before, find, act);
      }
      begun ??= performance.now();
      await pause(INTERVAL, options.signal);
    }
  }

  /** Deletes the files of a key that no process holds. Returns whether no process held it. */
  async removeAbandoned(key: string): Promise<boolean> {
    const lockFile = await this.#tryLock(key);
    if (lockFile === undefined) return false;
    await this.#release(key, lockFile, "abandoned");
    return true;
  }

  /**
   * Locks and opens the file of a key. Returns undefined if another holder has it.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async #tryLock(key: string): Promise<FileHandle | undefined> {
    const { directory } = this.#layout;
    try {
      return await lockPrivateFile(`a lock file in ${directory}`, this.#layout.claim(key), remove);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      if (isReadOnlyError(error)) {
        const message = `${directory}: nothing can be added to this cache, which is read-only`;
        throw new SnapshotError("ERR_CACHE", message, { cause: error.cause });
      }
      throw new SnapshotError("ERR_CACHE", error.message, { cause: error.cause });
    }
  }

  async #runLocked<T>(
    key: string,
    lockFile: FileHandle,
    { requester, signal }: LockOptions,
    before: Failure | undefined,
    find: () => Promise<T | undefined>,
    act: (lockFile: FileHandle) => Promise<T>,
  ): Promise<T> {
    let outcome: Outcome = "done";
    try {
      const found = await find();
      if (found !== undefined) return found;
      const failure = await readFailure(this.#layout, key);
      if (failure?.who === requester && failure.id !== before?.id) {
        // The record stays for others who waited for the same holder.
        outcome = "failed elsewhere";
        throw errorOf(failure);
      }
      return await act(lockFile);
    } catch (error) {
      // A cancellation is not recorded as a failure: one of the waiting processes does the work instead.
      if (outcome !== "failed elsewhere" && !signal?.aborted) outcome = { requester, error };
      throw error;
    } finally {
      await this.#release(key, lockFile, outcome);
    }
  }

  /** Deletes the files of a key, records a failure, and unlocks the key. */
  async #release(key: string, lockFile: FileHandle, outcome: Outcome): Promise<void> {
    const path = this.#layout.claim(key);
    try {
      // The file may have been removed, and another process may hold a new one of that name.
      if (!(await isSameFile(path, await lockFile.stat({ bigint: true })))) return;
      if (outcome !== "failed elsewhere") await this.#removeFiles(key, outcome === "abandoned");
      if (typeof outcome === "object") {
        await writeFailure(this.#layout, key, outcome.requester, outcome.error);
      }
      await unlink(path);
    } catch {
      // The next process that opens the cache removes the files.
    } finally {
      await lockFile.close().catch(() => {});
    }
  }

  /**
   * Deletes all files of a key except its lock file, and all failures old enough to have been read.
   *
   * @param isAbandoned whether the key was not in use, so that its own failure may still be unread
   */
  async #removeFiles(key: string, isAbandoned: boolean): Promise<void> {
    const { filling } = this.#layout;
    for (const name of await readdir(filling)) {
      const path = join(filling, name);
      const isFailure = name.endsWith(FAILURE) && (await isFile(path));
      const isOwn = keyOf(name) === key && !name.endsWith(CLAIM) && !(isFailure && isAbandoned);
      const isExpired = isFailure && !(await isYoung(path));
      if (isOwn || isExpired) await remove(path);
    }
  }
}

async function isYoung(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < FAILURE_LIFE;
}

/** Returns whether a regular file is at a path. Does not follow links. */
async function isFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() ?? false;
}
