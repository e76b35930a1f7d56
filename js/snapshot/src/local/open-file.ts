/** Opens regular files for reading, and compares the IDs of files. */
import { type BigIntStats, constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import { isUnfit } from "./private-file.js";
import { undefinedIfMissing, wrapSystemErrors } from "./system-errors.js";

/** Windows does not have the last two flags and does not need them. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/**
 * Opens a regular file for reading and passes it to `use`, whose result must close it. Anything else is
 * rejected; a pipe without waiting for a writer.
 *
 * @param name the name of the file in messages. Default: its path
 * @throws {SnapshotError} `code`
 */
export async function openFile<T>(
  code: SnapshotErrorCode,
  path: string,
  use: (handle: FileHandle, found: BigIntStats) => T | Promise<T>,
  name = path,
): Promise<T> {
  const handle = await reading(code, name, open(path, O_RDONLY | O_NONBLOCK));
  try {
    const found = await reading(code, name, handle.stat({ bigint: true }));
    if (!found.isFile()) {
      const kind = kindOf(found);
      const message = `${name}: expected a file, found ${kind}${hintOf(kind, name)}`;
      throw new SnapshotError(code, message);
    }
    return await use(handle, found);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function hintOf(kind: string, name: string): string {
  if (kind === "a pipe") return "; write it to a file first";
  if (kind !== "a device") return "";
  return `; copy it to a file: dd if=${name} of=FILE bs=4M conv=sparse`;
}

/** Returns the result of reading a file. Errors of the system become a `SnapshotError` with `code`. */
export function reading<T>(code: SnapshotErrorCode, name: string, result: Promise<T>): Promise<T> {
  return wrapSystemErrors(code, `cannot read ${name}`, result);
}

/** Names the kind of something that is not a regular file, for messages. */
export function kindOf(found: Stats | BigIntStats): string {
  if (found.isDirectory()) return "a directory";
  if (found.isFIFO()) return "a pipe";
  return found.isSocket() ? "a socket" : "a device";
}

/** A local snapshot that is open for reading. */
export class SnapshotFile {
  private constructor(
    /** Name of the snapshot in messages. */
    readonly name: string,
    /** ID of the file. */
    readonly id: FileId,
    /** Size in bytes. */
    readonly size: number,
    private readonly handle: FileHandle,
  ) {}

  /** Opens a snapshot. @param name its name in messages. Default: its path @throws {SnapshotError} `ERR_SOURCE` */
  static open(path: string, name = path): Promise<SnapshotFile> {
    const use = (handle: FileHandle, found: BigIntStats) =>
      new SnapshotFile(name, found, Number(found.size), handle);
    return openFile("ERR_SOURCE", path, use, name);
  }

  /** Wraps a file that is already open. @throws {SnapshotError} `ERR_SOURCE` */
  static async of(name: string, handle: FileHandle): Promise<SnapshotFile> {
    const found = await reading("ERR_SOURCE", name, handle.stat({ bigint: true }));
    return new SnapshotFile(name, found, Number(found.size), handle);
  }

  /** File descriptor, valid in every thread. */
  get fd(): number {
    return this.handle.fd;
  }

  /**
   * Reads `length` bytes at `position`.
   *
   * @throws {SnapshotError} `ERR_SOURCE`
   */
  async read(position: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    for (let filled = 0; filled < length; ) {
      const at = position + filled;
      const read = this.handle.read(bytes, filled, length - filled, at);
      const { bytesRead } = await reading("ERR_SOURCE", this.name, read);
      if (bytesRead === 0) {
        const message = `${this.name} was truncated while it was read: expected ${this.size} bytes, found its end at byte ${at}`;
        throw new SnapshotError("ERR_SOURCE", message);
      }
      filled += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/** Opens for reading without following a link or blocking on a pipe. */
export const READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** A regular file, as it was when it was opened. */
export interface FoundFile {
  readonly size: number;
  /** When it was written, in milliseconds since 1970. */
  readonly modified: number;
  /** All of it, unless it is too long. */
  readonly bytes: Buffer | undefined;
}

/** Returns a regular file, with its bytes if they are at most `maxLength`, or undefined if there is none. */
export async function readFoundFile(
  path: string,
  maxLength: number,
): Promise<FoundFile | undefined> {
  const file = await undefinedIfMissing(open(path, READ_FLAGS)).catch((error: unknown) => {
    if (isUnfit(error)) return undefined;
    throw error;
  });
  try {
    const found = await file?.stat();
    if (file === undefined || !found?.isFile()) return undefined;
    const { size, mtimeMs: modified } = found;
    return { size, modified, bytes: size <= maxLength ? await file.readFile() : undefined };
  } finally {
    await file?.close();
  }
}

/** Returns all of a regular file, or undefined if there is none or it is longer than `maxLength`. */
export async function readWholeFile(path: string, maxLength: number): Promise<Buffer | undefined> {
  return (await readFoundFile(path, maxLength))?.bytes;
}

/** Device and inode number of a file, which identify it on its machine. */
export type FileId = Pick<BigIntStats, "dev" | "ino">;

/**
 * Throws if the target is the file that is being read.
 *
 * @param what name of the argument with the target
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export async function checkDifferentFile(
  what: string,
  target: string,
  from: FileId,
): Promise<void> {
  if (!(await isSameFile(target, from))) return;
  const message = `${what}: expected a path other than that of the file that is read, found ${target}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns whether a path, with links resolved, is the file with this device and inode number. */
export async function isSameFile(path: string, { dev, ino }: FileId): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found?.dev === dev && found.ino === ino;
}

/** Throws if a path to write to leads to the file at another path, if there is one. @throws {SnapshotError} `ERR_ARGUMENT` */
export async function checkDifferentPath(name: string, path: string, other: string): Promise<void> {
  const found = await stat(other, { bigint: true }).catch(() => undefined);
  if (found !== undefined) await checkDifferentFile(name, path, found);
}
