/** The places on the disk of data that files may share, from the file system. */
import type { Extent } from "./data-extents.js";
import type { Libc } from "./libc.js";

/** An extent of a file with its place on the disk. */
export interface PhysicalExtent extends Extent {
  /** Its offset on the disk minus its offset in the file, in bytes. */
  readonly shift: number;
}

/** Maximum number of extents of a file: as for its data extents. */
const MAX_EXTENTS = 2 ** 20;

/** Extents per call, which parse in less than a millisecond. */
const BATCH = 2 ** 10;

/**
 * Offsets in a `struct fiemap`: `fm_start`, `fm_length`, `fm_flags`, `fm_mapped_extents`,
 * `fm_extent_count`, and the first extent.
 */
const REQUEST = { start: 0, length: 8, flags: 16, found: 20, capacity: 24, extents: 32 };

/** Offsets in a `struct fiemap_extent`, and its size. */
const EXTENT = { logical: 0, physical: 8, length: 16, flags: 40, size: 56 };

/** Makes the file system write pending data first, also of mapped memory (`FIEMAP_FLAG_SYNC`). */
const SYNC = 0x1;

/** `FIEMAP_EXTENT_SHARED`: other files use the same blocks, so nothing overwrites them in place. */
const SHARED = 0x2000;

/** Flags that say nothing about the data: `FIEMAP_EXTENT_LAST` and `FIEMAP_EXTENT_MERGED`. */
const NEUTRAL = 0x1 | 0x1000;

/**
 * Returns the extents of the first `size` bytes of an open file that share their blocks with any other, in
 * order. The last one may reach beyond `size`. Returns undefined if the file system cannot tell, or if there
 * are more than a million extents.
 *
 * Leaves out all extents with another flag: their place is unknown, or it does not hold the data as a read
 * returns it (pending, unwritten, compressed, encrypted, inline).
 */
export async function sharingExtents(
  system: Libc,
  fd: number,
  size: number,
): Promise<readonly PhysicalExtent[] | undefined> {
  const sharing: PhysicalExtent[] = [];
  const map = Buffer.alloc(REQUEST.extents + BATCH * EXTENT.size);
  for (let offset = 0, total = 0; offset < size; ) {
    writeRequest(map, offset, size - offset);
    if ((await system.fiemap(fd, map)) < 0) return undefined;

    const count = map.readUInt32LE(REQUEST.found);
    total += count;
    if (count > BATCH || total > MAX_EXTENTS) return undefined;
    for (let index = 0; index < count; index += 1) {
      const { start, end, shift, flags } = readExtent(map, index);
      // Extents out of order are a bug of the file system, or the file is written to.
      if (start < offset || end <= start || !Number.isSafeInteger(end + shift)) return undefined;
      if ((flags & ~NEUTRAL) === SHARED) sharing.push({ start, end, shift });
      offset = end;
    }
    if (count < BATCH) break;
  }
  return sharing;
}

function writeRequest(map: Buffer, start: number, length: number): void {
  map.writeBigUInt64LE(BigInt(start), REQUEST.start);
  map.writeBigUInt64LE(BigInt(length), REQUEST.length);
  map.writeUInt32LE(SYNC, REQUEST.flags);
  map.writeUInt32LE(0, REQUEST.found);
  map.writeUInt32LE(BATCH, REQUEST.capacity);
}

function readExtent(map: Buffer, index: number): PhysicalExtent & { readonly flags: number } {
  const at = REQUEST.extents + index * EXTENT.size;
  const start = Number(map.readBigUInt64LE(at + EXTENT.logical));
  const physical = Number(map.readBigUInt64LE(at + EXTENT.physical));
  const end = start + Number(map.readBigUInt64LE(at + EXTENT.length));
  return { start, end, shift: physical - start, flags: map.readUInt32LE(at + EXTENT.flags) };
}
