import { realpath, statfs } from "node:fs/promises";
import { constants } from "node:os";
import { dirname } from "node:path";

import { SnapshotError } from "../error.js";

/** Returns the free bytes on the disk of a file, or infinity if the file system does not say. */
export async function freeSpace(path: string): Promise<number> {
  // A link may lead to another disk.
  const target = await realpath(path).catch(() => path);
  const found = await statfs(dirname(target)).catch(() => undefined);
  if (found === undefined || found.blocks === 0) return Number.POSITIVE_INFINITY;
  return found.bavail * found.bsize;
}

/**
 * Throws if the disk has less than `needed` bytes free, before anything is written.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function checkFreeSpace(path: string, needed: number): Promise<void> {
  const free = await freeSpace(path);
  if (free < needed) throw insufficientSpace(path, needed, free);
}

/** Returns the error for a disk with too little free space. */
export function insufficientSpace(path: string, needed: number, free: number): SnapshotError {
  const message = `cannot write ${path}: it needs ${needed} bytes on the disk, ${free} are free`;
  return new SnapshotError("ERR_TARGET", message, { cause: noSpace() });
}

/** The error that the system would report later. */
function noSpace(): NodeJS.ErrnoException {
  return Object.assign(new Error("ENOSPC: no space left on device"), {
    code: "ENOSPC",
    errno: -constants.errno.ENOSPC,
  });
}
