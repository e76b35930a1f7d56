import { type FileHandle, lstat, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

import { pause } from "../../abort.js";
import { SnapshotError } from "../../error.js";
import { lockPrivateFile } from "../../local/lock-private-file.js";
import { leadsTo } from "../../local/other-file.js";
import { CLAIM, claimOf, FAILURE, type Layout } from "../directory/layout.js";
import { remove } from "../directory/replacing.js";
import { errorOf, type Failure, readFailure, writeFailure } from "./failures.js";

/** How often it is looked whether another process is done, in milliseconds. */
const INTERVAL = 20;

/** How long those who waited for what failed have to find out why, in milliseconds. */
const NOTE_LIFE = 1_000;

/** What someone wants to do alone. */
export interface Claiming {
  readonly signal?: AbortSignal | undefined;
  /** Whose failure would be this one's, too. */
  readonly who: string;
  /** Is told for how many milliseconds someone else was waited for. */
  waited(milliseconds: number): void;
}

/** What became of what was claimed. */
type Outcome = "done" | "noted" | "dead" | { readonly who: string; readonly error: unknown };

/** What only one at a time does, of all processes: the others wait, and fail if it fails for the same reason. */
export class KeyedLock {
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /**
   * Has `act` do what a name stands for, with the file of the claim, unless `find` finds that it is done.
   * If the process of whoever does it ends, another takes over, and finds in the file what it has left there.
   *
   * @throws {SnapshotError} `ERR_CACHE`, what `act` throws, here or in the process that was waited for
   */
  async alone<T>(
    name: string,
    claiming: Claiming,
    find: () => Promise<T | undefined>,
    act: (claim: FileHandle) => Promise<T>,
  ): Promise<T> {
    let begun: number | undefined;
    const before = await readFailure(this.#layout, name);
    for (;;) {
      const claim = await this.#claim(name);
      if (claim !== undefined) {
        if (begun !== undefined) claiming.waited(performance.now() - begun);
        return await this.#act(name, claim, claiming, before, find, act);
      }
      begun ??= performance.now();
      await pause(INTERVAL, claiming.signal);
    }
  }

  /** Has what is left of a claim go, if nobody has it any more. Returns whether it went. */
  async clearDead(name: string): Promise<boolean> {
    const claim = await this.#claim(name);
    if (claim === undefined) return false;
    await this.#end(name, claim, "dead");
    return true;
  }

  /** Opens the file of a claim, if nobody has it. @throws {SnapshotError} `ERR_CACHE` */
  async #claim(name: string): Promise<FileHandle | undefined> {
    const { directory } = this.#layout;
    try {
      return await lockPrivateFile(`a claim in ${directory}`, this.#layout.claim(name), remove);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      throw new SnapshotError("ERR_CACHE", error.message, { cause: error.cause });
    }
  }

  async #act<T>(
    name: string,
    claim: FileHandle,
    { who, signal }: Claiming,
    before: Failure | undefined,
    find: () => Promise<T | undefined>,
    act: (claim: FileHandle) => Promise<T>,
  ): Promise<T> {
    // What went wrong for another stays for whoever waited for it, too.
    let outcome: Outcome = "done";
    try {
      const found = await find();
      if (found !== undefined) return found;
      const failure = await readFailure(this.#layout, name);
      if (failure?.who === who && failure.id !== before?.id) {
        outcome = "noted";
        throw errorOf(failure);
      }
      return await act(claim);
    } catch (error) {
      // Those who wait for what nobody here wants any more do it themselves.
      if (outcome !== "noted" && !signal?.aborted) outcome = { who, error };
      throw error;
    } finally {
      await this.#end(name, claim, outcome);
    }
  }

  /** Ends a claim: whatever is left of what was done goes. */
  async #end(name: string, claim: FileHandle, outcome: Outcome): Promise<void> {
    const path = this.#layout.claim(name);
    try {
      // Unless someone has removed it, and another has one of that name.
      if (!(await leadsTo(path, await claim.stat({ bigint: true })))) return;
      if (outcome !== "noted") await this.#clear(name, outcome === "dead");
      if (typeof outcome === "object") {
        await writeFailure(this.#layout, name, outcome.who, outcome.error);
      }
      await unlink(path);
    } catch {
      // Whoever opens the cache next has it go.
    } finally {
      await claim.close().catch(() => {});
    }
  }

  /**
   * Has all files of a claim go but the claim itself, and all notes that those who waited must have read.
   *
   * @param isDead whether nobody does anything under it, so that its own note may not be read yet either
   */
  async #clear(name: string, isDead: boolean): Promise<void> {
    const { filling } = this.#layout;
    for (const file of await readdir(filling)) {
      const path = join(filling, file);
      const isNote = file.endsWith(FAILURE) && (await isFile(path));
      const isOwn = claimOf(file) === name && !file.endsWith(CLAIM) && !(isNote && isDead);
      const isRead = isNote && !(await this.#isYoung(path));
      if (isOwn || isRead) await remove(path);
    }
  }

  async #isYoung(path: string): Promise<boolean> {
    const found = await stat(path).catch(() => undefined);
    return found !== undefined && Math.abs(Date.now() - found.mtimeMs) < NOTE_LIFE;
  }
}

/** Whether a file is at a path, which can be read. A link is not followed. */
async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() ?? false;
}
