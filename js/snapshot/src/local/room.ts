import { realpath, statfs } from "node:fs/promises";
import { constants } from "node:os";
import { dirname } from "node:path";

import { SnapshotError } from "../error.js";

/** Returns the free bytes on the disk of a file, or infinity if the file system does not say. */
export async function roomFor(path: string): Promise<number> {
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
export async function checkRoom(path: string, needed: number): Promise<void> {
  const room = await roomFor(path);
  if (room < needed) throw noRoom(path, needed, room);
}

/** Returns the error for a disk with too little free space. */
export function noRoom(path: string, needed: number, room: number): SnapshotError {
  const message = `cannot write ${path}: it needs ${needed} bytes on the disk, ${room} are free`;
  return new SnapshotError("ERR_TARGET", message, { cause: noSpace() });
}

/** The error that the system would report later. */
function noSpace(): NodeJS.ErrnoException {
  return Object.assign(new Error("ENOSPC: no space left on device"), {
    code: "ENOSPC",
    errno: -constants.errno.ENOSPC,
  });
}
