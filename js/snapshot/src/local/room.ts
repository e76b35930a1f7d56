import { realpath, statfs } from "node:fs/promises";
import { constants } from "node:os";
import { dirname } from "node:path";

import { SnapshotError } from "../error.js";

/** How many bytes there is room for on the disk of a file. Some file systems do not say. */
export async function roomFor(path: string): Promise<number> {
  // A link may lead to another disk.
  const target = await realpath(path).catch(() => path);
  const found = await statfs(dirname(target)).catch(() => undefined);
  if (found === undefined || found.blocks === 0) return Number.POSITIVE_INFINITY;
  return found.bavail * found.bsize;
}

/**
 * Throws if the disk has not enough room for what is to be written, before any of it is.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function checkRoom(path: string, needed: number): Promise<void> {
  const room = await roomFor(path);
  if (room < needed) throw noRoom(path, needed, room);
}

/** What is told of something that there is no room for. */
export function noRoom(path: string, needed: number, room: number): SnapshotError {
  const message = `${path}: expected room for ${needed} bytes on the disk, found ${room}`;
  return new SnapshotError("ERR_TARGET", message, { cause: noSpace() });
}

/** What the system would say, sooner or later. */
function noSpace(): NodeJS.ErrnoException {
  return Object.assign(new Error("ENOSPC: no space left on device"), {
    code: "ENOSPC",
    errno: -constants.errno.ENOSPC,
  });
}
