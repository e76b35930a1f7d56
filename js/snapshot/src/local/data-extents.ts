/** Where a sparse file holds data, as its file system knows, so that nobody has to read its holes. */
import { constants } from "node:os";
import { setImmediate } from "node:timers/promises";

import { libc } from "./libc.js";

/** A stretch of a file that is not a hole: [start, end) in bytes. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/** What `lseek` seeks on Linux: the end, the next byte of data, and the next of a hole. */
const SEEK_END = 2;
const SEEK_DATA = 3;
const SEEK_HOLE = 4;

/** The most extents that are listed: the last of so many reaches to the end of the file. */
const MOST = 2 ** 20;

/** How many extents are listed, in about 2 ms, before others get their turn. */
const TURN = 2 ** 10;

/**
 * The stretches of an open file that may hold data, in order, not touching, or undefined where the
 * system cannot tell or the file is shorter than `size`. What lies outside of them reads as zeros,
 * as long as nobody writes to the file.
 *
 * The file has to stay open until then, and its position moves: read with positions. Needs the
 * optional package `koffi`, since Node cannot ask. Only on Linux: macOS could be asked too, but its
 * APFS has called data holes, which spoilt images of QEMU and copies of GNU's cp.
 */
export async function dataExtents(
  fd: number,
  size: number,
): Promise<readonly Extent[] | undefined> {
  const system = await libc();
  if (system === undefined) return undefined;

  const extents: { start: number; end: number }[] = [];
  for (let offset = 0; offset < size; ) {
    const start = system.lseek(fd, offset, SEEK_DATA);
    if (start >= size) break;
    if (start === -constants.errno.ENXIO) {
      // Nothing but a hole follows, unless the file is shorter than was said.
      if (system.lseek(fd, 0, SEEK_END) < size) return undefined;
      break;
    }
    const last = extents.length === MOST - 1;
    const end = last ? size : Math.min(system.lseek(fd, start, SEEK_HOLE), size);
    // Errors are negative, and a file system that does not advance contradicts itself.
    if (start < offset || end <= start) return undefined;

    const before = extents.at(-1);
    // They touch if somebody wrote to the hole in the meantime.
    if (before?.end === start) before.end = end;
    else extents.push({ start, end });
    offset = end;
    if (extents.length % TURN === 0) await setImmediate();
  }
  return extents;
}
