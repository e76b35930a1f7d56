/** Names in the directory of a cache are its own: whatever has one of them, a folder as well, goes for its files. */
import { type FileHandle, open, rename, rm } from "node:fs/promises";

import { PRIVATE } from "../../local/whole-file.js";

/** What the system says of a rename to where a folder is, or of one to where none is. */
const IN_THE_WAY: ReadonlySet<unknown> = new Set(["EISDIR", "ENOTDIR", "ENOTEMPTY", "EEXIST"]);

/** Has whatever is at a path go, if anything is. A link is not followed. */
export function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** Makes a file for writing in the place of whatever is there. */
export async function create(path: string): Promise<FileHandle> {
  await remove(path);
  return open(path, "wx", PRIVATE);
}

/** Has a file take the place of whatever is there. */
export async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!IN_THE_WAY.has((error as NodeJS.ErrnoException).code)) throw error;
    await remove(to);
    await rename(from, to);
  }
}
