import { constants } from "node:fs";
import { open } from "node:fs/promises";

import { PRIVATE, unlessMissing } from "../local/whole-file.js";

/** Windows has no such flags, and no cache. A pipe is not waited for, and a link not followed. */
const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** The most bytes that are read of a file that has a few words. */
const MOST = 2 ** 16;

/** What is in a small file of a cache, or undefined if there is none. Of a large one, what it begins with. */
export async function readSmall(path: string): Promise<string | undefined> {
  const file = await unlessMissing(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (file === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST), 0, MOST, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Writes a small file of a cache. */
export async function writeSmall(path: string, text: string): Promise<void> {
  const flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK;
  const file = await open(path, flags, PRIVATE);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}
