/** The space of a disk: how much is free, and ranges of files that give theirs back. */
import { type FileHandle, realpath, statfs } from "node:fs/promises";
import { constants } from "node:os";
import { dirname } from "node:path";

import { SnapshotError } from "../error.js";
import { type ByteRange, difference } from "../format/byte-ranges.js";
import type { Frames } from "../format/frames.js";
import { dataExtents } from "./extents.js";
import { libc } from "./libc.js";
import { readFullySync, writeFullySync } from "./read-write.js";

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

const ZEROS = Buffer.alloc(2 ** 18);
const buffer = Buffer.alloc(ZEROS.length);

/** Overwrites a range of an open file with zeros. Ranges that already are zeros are not written, so holes stay. */
export function zeroRangeSync(fd: number, start: number, end: number): void {
  for (let position = start; position < end; position += ZEROS.length) {
    const zeros = ZEROS.subarray(0, Math.min(ZEROS.length, end - position));
    const found = buffer.subarray(0, readFullySync(fd, buffer.subarray(0, zeros.length), position));
    if (!found.equals(zeros)) writeFullySync(fd, zeros, position);
  }
}

/** Turns a range of an open file into a hole, or overwrites it with zeros where that is not possible. */
async function clearRange(fd: number, start: number, end: number): Promise<void> {
  const system = await libc();
  if (system !== undefined && (await system.punchHole(fd, start, end - start)) >= 0) return;
  zeroRangeSync(fd, start, end);
}

/**
 * Clears the holes of an image, in which an interrupted run or a copy may have left data.
 *
 * @param kept ranges that stay, in order
 */
export async function zeroHoles(
  { fd }: FileHandle,
  frames: Frames,
  size: number,
  kept: Iterable<ByteRange> = [],
): Promise<void> {
  const extents = (await dataExtents(fd, size)) ?? [{ start: 0, end: size }];
  for (const { start, end } of difference(difference(extents, frames.extents()), kept)) {
    await clearRange(fd, start, end);
  }
}
