/** The extents of a sparse file that hold data, which its file system knows: holes need not be read. */
import { constants } from "node:os";
import { setImmediate } from "node:timers/promises";

import { append, type ByteRange } from "../format/byte-ranges.js";
import { libc, SEEK_DATA, SEEK_END, SEEK_HOLE } from "./libc.js";

/** Default of the maximum number of extents of a file. The last one then reaches to the end of the file. */
const MAX_EXTENTS = 2 ** 20;

/** Extents between yields to the event loop: about 2 ms. */
const YIELD_INTERVAL = 2 ** 10;

/**
 * Returns the extents of an open file that may hold data, in order and not adjacent. Everything outside of
 * them reads as zeros, unless the file is written to meanwhile. Returns undefined if the system cannot
 * tell, or if the file is shorter than `size`.
 *
 * Keep the file open until the promise settles. Its position changes: read with explicit positions.
 * Needs Linux and the optional package `koffi`, because Node has no such call. macOS is left out: APFS has
 * reported data as holes, which corrupted images of QEMU and copies of GNU cp.
 */
export async function dataExtents(
  fd: number,
  size: number,
  maxExtents = MAX_EXTENTS,
): Promise<readonly ByteRange[] | undefined> {
  const system = await libc();
  if (system === undefined) return undefined;

  const extents: ByteRange[] = [];
  for (let offset = 0; offset < size; ) {
    const start = system.lseek(fd, offset, SEEK_DATA);
    if (start >= size) break;
    if (start === -constants.errno.ENXIO) {
      // Only a hole follows, unless the file is shorter than `size`.
      if (system.lseek(fd, 0, SEEK_END) < size) return undefined;
      break;
    }
    const isLast = extents.length === maxExtents - 1;
    const end = isLast ? size : Math.min(system.lseek(fd, start, SEEK_HOLE), size);
    // Errors are negative; an extent that ends before it starts is a bug of the file system.
    if (start < offset || end <= start) return undefined;

    // Adjacent extents appear when the hole between them is written to.
    append(extents, { start, end });
    offset = end;
    if (extents.length % YIELD_INTERVAL === 0) await setImmediate();
  }
  return extents;
}
