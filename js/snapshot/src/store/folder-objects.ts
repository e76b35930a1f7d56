import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, lstat, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SnapshotError } from "../error.js";
import { publishFile, syncDirectory, writeAtomically } from "../local/atomic-write.js";
import { libc } from "../local/libc.js";
import { lockFile, Mutex } from "../local/locks.js";
import { kindOf, readFoundFile, readWholeFile } from "../local/open-file.js";
import { checkOwnDirectory, PRIVATE_DIRECTORY, PRIVATE_MODE } from "../local/private-file.js";
import { undefinedIfMissing } from "../local/system-errors.js";
import type { ListedObject, StoredObject } from "../services/object-service.js";
import type { Hold, NewObject, StoreObjects, WriteResult } from "./objects.js";

/** The folders of a store. */
const FOLDERS = ["disks", "snapshots", "tombstones", "leases"];

/** Matches the names of temporary files. */
const TEMPORARY = /^\.hedgerow-.*\.tmp$/;

/** The objects of a store in a folder. Other users must not be able to write to it. */
export class FolderObjects implements StoreObjects {
  readonly leasesExpire = false;
  readonly unusedTag = "0".repeat(64);
  readonly #lock: Mutex<FileHandle>;

  private constructor(readonly name: string) {
    const path = join(name, "lock");
    this.#lock = new Mutex("ERR_TARGET", path, () => lockFile(path));
  }

  /** @throws {SnapshotError} `ERR_STORE` */
  static async open(path: string, create: boolean): Promise<FolderObjects> {
    if ((await libc()) === undefined) {
      throw new SnapshotError(
        "ERR_STORE",
        `${path}: a store in a folder needs Linux and the optional package koffi`,
      );
    }
    const objects = new FolderObjects(path);
    const found = await objects.#wrap(undefinedIfMissing(stat(path)));
    if (found !== undefined && !found.isDirectory()) {
      const kind = found.isFile() ? "a file" : kindOf(found);
      throw new SnapshotError("ERR_STORE", `${path}: expected a folder for disks, found ${kind}`);
    }
    if (!create) {
      await checkOwnDirectory("ERR_STORE", objects.name);
      return objects;
    }
    await objects.#wrap(mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY }));
    await checkOwnDirectory("ERR_STORE", objects.name);
    for (const folder of FOLDERS) {
      await objects.#wrap(mkdir(join(path, folder), { recursive: true, mode: PRIVATE_DIRECTORY }));
    }
    return objects;
  }

  location(key: string) {
    return { kind: "file", path: join(this.name, key) } as const;
  }

  /** Returns the time of the file system, which may be the clock of another machine. */
  now(): Promise<number> {
    return this.#locked(async (lock) => {
      await lock.write("\n", 0);
      return (await lock.stat()).mtimeMs;
    });
  }

  async read(key: string, maxLength: number): Promise<StoredObject | undefined> {
    const path = join(this.name, key);
    // The time must be that of these bytes: others may replace the file.
    const found = await this.#wrap(readFoundFile(path, maxLength));
    if (found === undefined) return this.#missing(path);
    const { size, bytes, modified } = found;
    if (bytes !== undefined) return { bytes, tag: tagOf(bytes), modified };
    const message = `${path}: expected at most ${maxLength} bytes, found ${size}`;
    throw new SnapshotError("ERR_STORE", message);
  }

  write(key: string, bytes: Uint8Array, tag: string | undefined): Promise<WriteResult> {
    return this.#locked(async () => {
      if ((await this.#tag(key)) !== tag) return { tag: undefined };
      await writeAtomically(join(this.name, key), {}, (file) => file.writeFile(bytes));
      return { tag: tagOf(bytes) };
    });
  }

  remove(key: string, tag: string): Promise<boolean> {
    return this.#locked(async () => {
      const found = await this.#tag(key);
      if (found !== undefined && found !== tag) return false;
      await this.#remove(key);
      return true;
    });
  }

  async delete(key: string): Promise<boolean> {
    await this.#locked(() => this.#remove(key));
    return true;
  }

  async size(key: string): Promise<number | undefined> {
    return (await this.#wrap(undefinedIfMissing(lstat(join(this.name, key)))))?.size;
  }

  async create<T>(use: (object: NewObject) => Promise<T>): Promise<T> {
    // On the same file system, so that it only needs another name.
    const partial = join(this.name, "snapshots", `.hedgerow-${randomUUID()}.tmp`);
    const handle = await this.#wrap(open(partial, "wx+", PRIVATE_MODE));
    try {
      const publish = async (key: string) => {
        if ((await this.size(key)) !== undefined) return false;
        const file = await this.#wrap(open(partial, "r"));
        const target = join(this.name, key);
        const published = { file, partial, target };
        await this.#wrap(publishFile(target, published, { overwrite: true }));
        return true;
      };
      return await use({ path: partial, handle, publish });
    } finally {
      await handle.close().catch(() => {});
      // If it cannot be removed, a collection removes it later.
      await rm(partial, { force: true }).catch(() => {});
    }
  }

  async copy(): Promise<false> {
    return false;
  }

  async *list(prefix: string, after = ""): AsyncGenerator<ListedObject> {
    const folder = dirname(`${prefix}-`);
    // Some file systems do not list a file that is replaced during the listing.
    const names = await this.#locked(() => undefinedIfMissing(readdir(join(this.name, folder))));
    for (const name of (names ?? []).sort()) {
      const key = `${folder}/${name}`;
      if (key <= after || !key.startsWith(prefix) || TEMPORARY.test(name)) continue;
      const size = await this.size(key);
      if (size !== undefined) yield { key, size };
    }
  }

  /** Locks a file, which the kernel unlocks when the process ends. */
  async hold(token: string): Promise<Hold> {
    const path = this.#lease(token);
    // No other process may inspect the file before it is locked.
    const file = await this.#locked(() => lockFile(path));
    if (file === undefined) throw new SnapshotError("ERR_STORE", `${path}: cannot lock this file`);
    return {
      release: async () => {
        // If it cannot be removed, a collection does, since it is not locked any more.
        await rm(path, { force: true }).catch(() => {});
        await file.close().catch(() => {});
      },
    };
  }

  isHeld(token: string): Promise<boolean> {
    return this.#isHeld(token, false);
  }

  async removeLeftovers(age: number, dryRun: boolean): Promise<number> {
    const before = (await this.now()) - age;
    let count = 0;
    for (const folder of ["", ...FOLDERS]) {
      const names = await this.#wrap(undefinedIfMissing(readdir(join(this.name, folder))));
      for (const name of names ?? []) {
        const path = join(this.name, folder, name);
        if (folder === "leases") {
          // Those of processes that have ended. One that cannot be opened may be held.
          if (!(await this.#isHeld(name, !dryRun).catch(() => true))) count += 1;
          continue;
        }
        if (!TEMPORARY.test(name)) continue;
        const found = await this.#wrap(undefinedIfMissing(stat(path)));
        if (found === undefined || found.mtimeMs > before) continue;
        count += 1;
        if (!dryRun) await this.#wrap(rm(path, { force: true }));
      }
    }
    return count;
  }

  close(): void {}

  /**
   * Returns whether a running process holds a token, and removes the file of an ended one if asked to. Inspecting a
   * lease locks its file, too: only one process does so at a time.
   */
  #isHeld(token: string, isToRemove: boolean): Promise<boolean> {
    const path = this.#lease(token);
    return this.#locked(async () => {
      if ((await undefinedIfMissing(stat(path))) === undefined) return false;
      const file = await lockFile(path);
      if (file === undefined) return true;
      try {
        if (isToRemove) await rm(path, { force: true });
      } finally {
        await file.close();
      }
      return false;
    });
  }

  #lease(token: string): string {
    return join(this.name, "leases", token);
  }

  /** Returns undefined if there is nothing at a path that is not a regular file. @throws {SnapshotError} `ERR_STORE` */
  async #missing(path: string): Promise<undefined> {
    const found = await this.#wrap(undefinedIfMissing(lstat(path)));
    if (found === undefined || found.isFile()) return undefined;
    throw new SnapshotError("ERR_STORE", `${path}: expected a file, found ${kindOf(found)}`);
  }

  async #tag(key: string): Promise<string | undefined> {
    const bytes = await this.#wrap(readWholeFile(join(this.name, key), 2 ** 22));
    return bytes && tagOf(bytes);
  }

  async #remove(key: string): Promise<void> {
    await this.#wrap(rm(join(this.name, key), { force: true }));
    await syncDirectory(join(this.name, key, ".."));
  }

  /** Runs an action under the lock of the store. */
  #locked<T>(action: (lock: FileHandle) => Promise<T>): Promise<T> {
    return this.#wrap(this.#lock.run(action));
  }

  /** Gives errors of the system the code of a store. */
  async #wrap<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (cause) {
      if (cause instanceof SnapshotError && cause.code !== "ERR_TARGET") throw cause;
      throw new SnapshotError("ERR_STORE", `${this.name}: ${(cause as Error).message}`, { cause });
    }
  }
}

function tagOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
