import { constants } from "node:fs";
import { open } from "node:fs/promises";

import { isUnfit } from "../../local/private-file.js";
import { unlessMissing } from "../../local/whole-file.js";
import { create } from "./replacing.js";

/** Windows has no such flags, and no cache. A pipe is not waited for, and a link not followed. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** The most bytes that are read of a file that has a few words. */
const MOST = 2 ** 16;

/**
 * What is in a small file of a cache, or undefined if there is none. Of a large one, what it begins with. What is no
 * file has nothing in it.
 */
export async function readSmall(path: string): Promise<string | undefined> {
  const opening = unlessMissing(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  const file = await opening.catch((error: unknown) => {
    if (isUnfit(error)) return "unfit" as const;
    throw error;
  });
  if (file === undefined || file === "unfit") return file && "";
  try {
    if (!(await file.stat()).isFile()) return "";
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST), 0, MOST, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Writes a small file of a cache, in the place of whatever is there. */
export async function writeSmall(path: string, text: string): Promise<void> {
  const file = await create(path);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}
