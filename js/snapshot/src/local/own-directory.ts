import { stat } from "node:fs/promises";

import { undefinedIfMissing } from "./atomic-write.js";

/** The mode bits that let other users write. */
export const OTHERS_WRITE = 0o022;

/** Returns whether this user owns a directory, and no one else can write to it; undefined if there is none. */
export async function isOwnDirectory(path: string): Promise<boolean | undefined> {
  const found = await undefinedIfMissing(stat(path));
  if (found === undefined) return undefined;
  const { uid, mode } = found;
  return uid === (process.getuid?.() ?? uid) && (mode & OTHERS_WRITE) === 0;
}
