import { constants, type Stats } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";

import { PRIVATE, unlessMissing, writing } from "./whole-file.js";

/** Windows has no links that anyone may make. */
const { O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Why what is there cannot be opened as a file of this user's: a link, a folder, a pipe, or no right to it. */
const UNFIT: ReadonlySet<unknown> = new Set(["ELOOP", "EISDIR", "ENXIO", "EACCES"]);

/** Whether something is there that is no file of this user's. */
export function isUnfit(error: unknown): boolean {
  return UNFIT.has((error as NodeJS.ErrnoException).code);
}

/** How often a file may come and go while it is being opened. */
const MAX_TRIES = 10;

/**
 * Opens a file for reading and writing that is this user's alone, of an earlier run or a new one. What
 * someone else has put there goes.
 *
 * @param target what it is for, for messages
 * @param remove has that go: not a folder, unless the caller says so, whose name may be someone's own
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function openPrivate(
  target: string,
  path: string,
  remove: (path: string) => Promise<void> = rm,
): Promise<FileHandle> {
  for (let tries = 1; ; tries += 1) {
    try {
      const known = await openKnown(target, path, remove);
      if (known !== undefined) return known;
      return await create(path);
    } catch (error) {
      // Someone else was faster.
      const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
      if (!isThere || tries === MAX_TRIES) return writing(target, Promise.reject(error));
    }
  }
}

/** Opens a file that is there, unless it is another's, which goes. */
async function openKnown(
  target: string,
  path: string,
  remove: (path: string) => Promise<void>,
): Promise<FileHandle | undefined> {
  const opening = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  const known = await unlessMissing(opening).catch((error: unknown) => {
    // Whatever else is wrong is not wrong with the file, which someone may be at.
    if (isUnfit(error)) return "unfit" as const;
    throw error;
  });
  if (known === undefined) return undefined;
  if (known !== "unfit") {
    const found = await known.stat().catch(async (error: unknown) => {
      await known.close();
      throw error;
    });
    if (isPrivate(found)) return known;
    await known.close();
    // It has just been removed: what has its name now is someone else's.
    if (found.nlink === 0) return undefined;
  }
  await writing(target, unlessMissing(remove(path)));
  return undefined;
}

/** Whatever this process takes away from the rights of files, this one has its own. */
async function create(path: string): Promise<FileHandle> {
  const file = await open(path, "wx+", PRIVATE);
  try {
    await file.chmod(PRIVATE);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function isPrivate(found: Stats): boolean {
  const isOwn = found.uid === (process.getuid?.() ?? found.uid) && found.nlink === 1;
  return found.isFile() && isOwn && (found.mode & 0o777) === PRIVATE;
}
