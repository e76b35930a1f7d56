/**
 * Locks: in this process a queue, and between processes `flock` on open files, which the kernel unlocks when a process
 * ends. No attempt waits in the kernel, since that would block the whole process: it is repeated after a pause.
 */
import type { FileHandle } from "node:fs/promises";
import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

import { pause } from "../abort.js";
import { SnapshotError } from "../error.js";
import { type Libc, libc } from "./libc.js";
import { isSameFile } from "./open-file.js";
import { openPrivate } from "./private-file.js";

/** A queue of actions, each of which runs when those before it have ended. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs an action in its turn. Settles as the action does; the next one runs in either case. */
  run<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(action);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Waits until the actions that were added before have ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

/** Operations of `flock` that do not wait. */
const OPERATIONS = { shared: 1 | 4, exclusive: 2 | 4, unlock: 8 } as const;

/** The errors of a lock that is held elsewhere, or of a call that a signal interrupted. */
const BUSY: ReadonlySet<number> = new Set([constants.errno.EWOULDBLOCK, constants.errno.EINTR]);

/**
 * Locks or unlocks an open file. Returns false if the lock is held elsewhere.
 *
 * @throws {SnapshotError} `ERR_CACHE`
 */
export function flock(system: Libc, fd: number, operation: keyof typeof OPERATIONS): boolean {
  const result = system.flock(fd, OPERATIONS[operation]);
  if (result === 0) return true;
  if (BUSY.has(-result)) return false;
  const reason = getSystemErrorMap().get(result)?.[0] ?? String(-result);
  throw new SnapshotError("ERR_CACHE", `cannot lock a file: ${reason}`);
}

/** Attempts to lock a file that other processes keep removing. */
const MAX_TRIES = 10;

/**
 * Opens a private file of this user and locks it until it is closed. Returns undefined if it is locked elsewhere, or
 * if files cannot be locked because the optional package `koffi` is missing.
 *
 * @param name name of the file in messages
 * @param remove removes a file that is not private: see {@link openPrivate}
 * @throws {SnapshotError} `ERR_TARGET`
 */
export function lockPrivateFile(
  name: string,
  path: string,
  remove?: (path: string) => Promise<void>,
): Promise<FileHandle | undefined> {
  return lockOpened(path, () => openPrivate(name, path, remove));
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
    const isLocked = system.flock(handle.fd, OPERATIONS.exclusive) === 0;
    // The previous holder may have removed the file.
    const id = await handle.stat({ bigint: true }).catch(() => undefined);
    if (isLocked && id !== undefined && (await isSameFile(path, id))) return handle;
    await handle.close();
    if (!isLocked) return undefined;
  }
  return undefined;
}

/** The first and the longest pause between attempts to take a lock, in milliseconds. */
const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 16;

/**
 * Repeats an attempt to take a lock until it succeeds, and returns its result.
 *
 * @throws what `attempt` throws, and the reason of the signal
 */
export async function untilLocked<T>(
  attempt: () => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T> {
  for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
    signal?.throwIfAborted();
    const held = await attempt();
    if (held !== undefined) return held;
    // Processes that wait for the same lock try at different moments.
    await pause(wait * (0.5 + Math.random()), signal);
  }
}

/** The maximum time to wait for a lock that is held for milliseconds, in milliseconds. */
const PATIENCE = 60_000;

/** The lock of a file while it is held. */
interface Held {
  close(): Promise<void>;
}

/** A lock that is held for milliseconds while something is changed, across all processes. */
export class Mutex<H extends Held = Held> {
  readonly #turns = new Turns();

  /**
   * @param name the name of what is locked, for messages
   * @param attempt tries to lock a file; its result is closed to unlock it
   */
  constructor(
    private readonly code: "ERR_CACHE" | "ERR_TARGET",
    private readonly name: string,
    private readonly attempt: () => Promise<H | undefined>,
  ) {}

  /**
   * Runs an action while no other process, and no other call, holds the lock.
   *
   * @param signal cancels waiting for the lock
   * @throws {SnapshotError} `ERR_CACHE` or `ERR_TARGET` after a minute, what `action` throws, and the reason of the signal
   */
  run<T>(action: (held: H) => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#turns.run(async () => {
      if ((await libc()) === undefined) {
        const message = `${this.name}: locks need Linux and the optional package koffi`;
        throw new SnapshotError(this.code, message);
      }
      const begun = performance.now();
      const attempt = async () => {
        const held = await this.attempt();
        if (held !== undefined || performance.now() - begun < PATIENCE) return held;
        const message = `${this.name}: another process has held its lock for ${PATIENCE / 1000} seconds`;
        throw new SnapshotError(this.code, message);
      };
      const held = await untilLocked(attempt, signal);
      try {
        return await action(held);
      } finally {
        await held.close();
      }
    });
  }
}
