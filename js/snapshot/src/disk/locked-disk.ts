/** A disk whose files no other process has open, before its snapshot is known. */
import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SnapshotError } from "../error.js";
import { type Manifest, readManifestIn } from "../format/manifest.js";
import { resolveTarget, syncDirectory, writeAtomically } from "../local/atomic-write.js";
import { libc } from "../local/libc.js";
import { lockPrivateFile } from "../local/locks.js";
import { readWholeFile } from "../local/open-file.js";
import { openPrivate } from "../local/private-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import { StateFile } from "./state-file.js";

/** The length of the size of the snapshot, which precedes the manifest in its file. */
const SIZE_LENGTH = 8;

/** The maximum length of that file, in bytes: the longest manifest is that of a delta. */
const MAX_LENGTH = 2 ** 28;

/** The names of the files of a disk. */
interface DiskPaths {
  /** The image, when it is complete. */
  readonly target: string;
  /** The image until then. */
  readonly partial: string;
  readonly state: string;
  readonly manifest: string;
}

/** The lock of a disk, and what its files say. */
export class LockedDisk {
  /** Whether the image is complete, and has its name. */
  readonly isPublished: boolean;
  readonly #wasThere: boolean;
  #isMade = false;
  /** The identity of the snapshot whose manifest is kept, as far as that is known. */
  #kept: string | undefined;

  private constructor(
    /** The path of the image, for messages. */
    readonly name: string,
    readonly paths: DiskPaths,
    readonly state: StateFile,
  ) {
    this.isPublished = exists(paths.target);
    this.#wasThere = this.isPublished || exists(paths.partial);
  }

  /**
   * Locks a disk.
   *
   * @param path the path of the image
   * @throws {SnapshotError} `ERR_TARGET` if another process has it open, its state file is damaged, or its image is
   *   incomplete and another file has its name
   */
  static async open(path: string): Promise<LockedDisk> {
    const paths = pathsOf(await resolveTarget(path, {}));
    const state = new StateFile(path, await lock(path, paths.state));
    const disk = new LockedDisk(path, paths, state);
    try {
      if (disk.isPublished && exists(paths.partial)) throw disk.#isNotOurs();
      await state.readHeader();
      return disk;
    } catch (error) {
      await disk.close();
      throw error;
    }
  }

  /** The identity of the snapshot, if the disk was opened before. */
  get digest(): string | undefined {
    return this.#wasThere ? this.state.header?.digest : undefined;
  }

  /** Opens the image, or makes an empty one. @throws {SnapshotError} `ERR_TARGET` */
  async openImage(): Promise<FileHandle> {
    const { target, partial } = this.paths;
    return this.isPublished
      ? wrapWriteErrors(this.name, open(target, "r+"))
      : openPrivate(this.name, partial, refuse(this.name));
  }

  /** Gives the image its name. @throws {SnapshotError} `ERR_TARGET`, also if another file has it */
  async publish(): Promise<void> {
    const { target, partial } = this.paths;
    if (exists(target)) throw this.#isNotOurs();
    await wrapWriteErrors(this.name, rename(partial, target));
    await syncDirectory(dirname(target));
  }

  /** Notes that the disk has been made, so that its files are kept. */
  made(): void {
    this.#isMade = true;
  }

  /** Returns the manifest of a snapshot if this is a disk of it that has kept it. */
  async keptManifest(digest: string): Promise<Manifest | undefined> {
    if (this.digest !== digest) return undefined;
    try {
      const bytes = await readWholeFile(this.paths.manifest, MAX_LENGTH);
      if (bytes === undefined) return undefined;
      const size = Number(bytes.readBigUInt64LE(0));
      const manifest = await readManifestIn(this.name, bytes.subarray(SIZE_LENGTH), size);
      if (manifest?.info.digest !== digest) return undefined;
      this.#kept = digest;
      return manifest;
    } catch {
      // It only saves a request.
      return undefined;
    }
  }

  /** Keeps the manifest for the next time that the disk is opened, if that is possible. */
  async keepManifest({ info, tail }: Manifest): Promise<void> {
    if (this.#kept === info.digest) return;
    const size = Buffer.alloc(SIZE_LENGTH);
    size.writeBigUInt64LE(BigInt(info.fileSize));
    const bytes = Buffer.concat([size, tail]);
    const write = (file: FileHandle) => file.writeFile(bytes);
    // Others may be able to make a link of this name.
    const options = { isDurable: false, followsLinks: false };
    await writeAtomically(this.paths.manifest, options, write).catch(() => {});
  }

  #isNotOurs(): SnapshotError {
    const message = `${this.name}: another program has made this file; the image is in ${this.paths.partial}`;
    return new SnapshotError("ERR_TARGET", message);
  }

  /** Ends the lock. Removes the files of a disk that was not made. */
  async close(): Promise<void> {
    // The state file is still locked, so that no other process uses it. The next one replaces what cannot be removed.
    if (!this.#wasThere && !this.#isMade)
      for (const path of [this.paths.partial, this.paths.state])
        await rm(path, { force: true }).catch(() => {});
    await this.state.close();
  }
}

/** The local image of a disk that no process has open. */
export interface IdleImage {
  /** Returns the identity of the snapshot that the image began with, if it is known. @throws {SnapshotError} `ERR_TARGET` */
  digest(): Promise<string | undefined>;
  /**
   * Returns the number of bytes in blocks that were written since the disk was opened for the first time.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  writtenBytes(): Promise<number>;
  /** Removes the image and the files beside it. */
  remove(): Promise<void>;
  /** Lets others open it. */
  close(): Promise<void>;
}

/**
 * Returns the image of a disk, or undefined if a process has it open. No process can open it until it is closed.
 *
 * @param path of the image
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function openIdleImage(path: string): Promise<IdleImage | undefined> {
  const paths = pathsOf(path);
  const file = await lockPrivateFile(path, paths.state, refuse(path));
  if (file === undefined) return undefined;
  return {
    digest: async () => (await new StateFile(path, file).readHeader())?.digest,
    writtenBytes: () => new StateFile(path, file).writtenBytes(),
    remove: async () => {
      // While the image is incomplete, its name may be that of another file.
      const image = exists(paths.partial) ? paths.partial : paths.target;
      for (const one of [image, paths.manifest, paths.state]) await rm(one, { force: true });
    },
    close: () => file.close(),
  };
}

/** Returns whether an image has a state file. */
export function hasState(path: string): boolean {
  return exists(pathsOf(path).state);
}

function pathsOf(target: string): DiskPaths {
  const hash = createHash("sha256").update(basename(target)).digest("hex").slice(0, 16);
  const stem = join(dirname(target), `.hedgerow-${hash}`);
  return {
    target,
    partial: `${stem}.disk`,
    state: `${stem}.state`,
    manifest: `${stem}.manifest`,
  };
}

async function lock(path: string, state: string): Promise<FileHandle> {
  const file = await lockPrivateFile(path, state, refuse(path));
  if (file !== undefined) return file;
  const reason =
    (await libc()) === undefined
      ? "disks need Linux and the optional package koffi"
      : "another process has opened it";
  throw new SnapshotError("ERR_TARGET", `cannot open ${path}: ${reason}`);
}

/** Refuses to remove a file that is not private: it may hold writes. */
function refuse(path: string): (unfit: string) => Promise<void> {
  return async (unfit) => {
    const message = `${path}: expected ${unfit} to be a private file of this user`;
    throw new SnapshotError("ERR_TARGET", message);
  };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
