import { lstat, stat } from "node:fs/promises";
import { resolve } from "node:path";

import { undefinedIfMissing } from "./atomic-write.js";

/** The mode bits that let other users write. */
export const OTHERS_WRITE = 0o022;

/** The user whom all others trust. */
const ROOT = 0;

/**
 * Returns whether this user owns a directory, and no one else can write to it or replace it; undefined if there is none.
 */
export async function isOwnDirectory(path: string): Promise<boolean | undefined> {
  const found = await undefinedIfMissing(stat(path));
  if (found === undefined) return undefined;
  const { uid, mode } = found;
  const own = process.getuid?.() ?? uid;
  if (uid !== own || (mode & OTHERS_WRITE) !== 0) return false;
  // The owner of a link in its place can let it lead elsewhere at any time.
  const { uid: owner } = await lstat(resolve(path));
  return owner === own || owner === ROOT;
}
