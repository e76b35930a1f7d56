/** Files and directories that only this user can use: private files, temporary files, and checks of directories. */
import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import { undefinedIfMissing, wrapSystemErrors, wrapWriteErrors } from "./system-errors.js";

/** Mode of files that only their owner may read, because an image holds everything that was on a disk. */
export const PRIVATE_MODE = 0o600;

/** Mode of directories that only their owner may use. */
export const PRIVATE_DIRECTORY = 0o700;

/** Windows does not have these flags: only privileged users create links there. */
const { O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Errors of opening something that is not a file of this user: a link, a directory, a pipe, or no permission. */
const UNFIT: ReadonlySet<unknown> = new Set(["ELOOP", "EISDIR", "ENXIO", "EACCES"]);

/** Returns whether opening failed because the path is not a file of this user. */
export function isUnfit(error: unknown): boolean {
  return UNFIT.has((error as NodeJS.ErrnoException).code);
}

/** Attempts to open a file that other processes keep creating and removing. */
const MAX_TRIES = 10;

/**
 * Opens a private file of this user for reading and writing, and creates it if it is missing. Anything else
 * at the path is removed first.
 *
 * @param target name of the file in messages
 * @param remove removes what is not a private file of this user. The default does not remove a directory,
 *   which may be in use
 * @param isFit returns whether an existing file is opened. Default: if it is a private file of this user
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function openPrivate(
  target: string,
  path: string,
  remove: (path: string) => Promise<void> = rm,
  isFit: (found: Stats) => boolean = isPrivate,
): Promise<FileHandle> {
  for (let tries = 1; ; tries += 1) {
    try {
      const known = await openExisting(target, path, remove, isFit);
      if (known !== undefined) return known;
      return await create(path);
    } catch (error) {
      // Another process created the file first.
      const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
      if (!exists || tries === MAX_TRIES) return wrapWriteErrors(target, Promise.reject(error));
    }
  }
}

/** Opens an existing file that is fit. Removes anything else, and returns undefined. */
async function openExisting(
  target: string,
  path: string,
  remove: (path: string) => Promise<void>,
  isFit: (found: Stats) => boolean,
): Promise<FileHandle | undefined> {
  const opening = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  const known = await undefinedIfMissing(opening).catch((error: unknown) => {
    // Other errors say nothing about the file, which may be in use.
    if (isUnfit(error)) return "unfit" as const;
    throw error;
  });
  if (known === undefined) return undefined;
  if (known !== "unfit") {
    const found = await known.stat().catch(async (error: unknown) => {
      await known.close();
      throw error;
    });
    if (found.nlink > 0 && isFit(found)) return known;
    await known.close();
    // The file was removed: its name may belong to another file now.
    if (found.nlink === 0) return undefined;
  }
  await wrapWriteErrors(target, undefinedIfMissing(remove(path)));
  return undefined;
}

/** Creates a private file, regardless of the umask. */
async function create(path: string): Promise<FileHandle> {
  const file = await open(path, "wx+", PRIVATE_MODE);
  try {
    await file.chmod(PRIVATE_MODE);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function isPrivate(found: Stats): boolean {
  const isOwn = found.uid === (process.getuid?.() ?? found.uid) && found.nlink === 1;
  return found.isFile() && isOwn && (found.mode & 0o777) === PRIVATE_MODE;
}

/** An open temporary file. */
export interface TemporaryFile {
  /** Name of the file in messages. */
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * Opens an empty temporary file, which is unlinked at once: nothing is left behind if the process is killed.
 *
 * @param folder default: `TMPDIR`
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function openTemporaryFile(folder = tmpdir()): Promise<TemporaryFile> {
  const path = join(folder, `.hedgerow-${randomUUID()}.tmp`);
  const what = `cannot make a temporary file in ${folder}${folder === tmpdir() ? ", as TMPDIR says" : ""}`;
  const handle = await wrapSystemErrors("ERR_TARGET", what, open(path, "wx+", PRIVATE_MODE));
  try {
    await wrapWriteErrors(path, rm(path));
    return { path, handle };
  } catch (error) {
    await handle.close();
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}

/** The mode bits that let other users write. */
const OTHERS_WRITE = 0o022;

/** The user whom all others trust. */
const ROOT = 0;

/**
 * Throws unless a directory is missing, or this user owns it and no one else can write to it or replace it.
 *
 * @param code the code of the error
 * @param name the name of the directory in messages
 */
export async function checkOwnDirectory(
  code: SnapshotErrorCode,
  path: string,
  name = path,
): Promise<void> {
  const inspecting = undefinedIfMissing(Promise.all([stat(path), lstat(resolve(path))]));
  const found = await wrapSystemErrors(code, `cannot use ${name}`, inspecting);
  const problem = found && problemOf(...found);
  if (problem !== undefined) throw new SnapshotError(code, `${name}: ${problem}`);
}

function problemOf(directory: Stats, entry: Stats): string | undefined {
  const { uid, mode } = directory;
  const own = process.getuid?.() ?? uid;
  if (!directory.isDirectory()) return "expected a directory";
  if (uid !== own) return `expected a directory owned by user ${own}, found owner ${uid}`;
  if ((mode & OTHERS_WRITE) !== 0) {
    const found = (mode & 0o777).toString(8);
    return `expected a directory that only its owner can write to, found mode ${found}`;
  }
  // The owner of a link in its place can let it lead elsewhere at any time.
  if (entry.uid === own || entry.uid === ROOT) return undefined;
  return `expected a link owned by user ${own}, found owner ${entry.uid}`;
}
