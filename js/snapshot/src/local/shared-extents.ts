/** The extents that two files share, from their file system: they are equal and need not be read. */
import { fstat as fstatOf } from "node:fs";
import { statfs } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";

import { type ByteRange, narrow, toSet } from "../format/byte-ranges.js";
import { type Libc, libc } from "./libc.js";

const fstat = promisify(fstatOf);

/** A file that is open for reading. */
export interface OpenedFile {
  readonly fd: number;
  /** Size in bytes. */
  readonly size: number;
}

/**
 * File systems on which files share blocks, and whose physical offsets are unique: XFS and btrfs. On
 * others, such as overlayfs and bcachefs, equal offsets may be on different disks.
 */
const FILE_SYSTEMS: readonly number[] = [0x58465342, 0x9123683e];

/** `FS_XFLAG_REALTIME`: the file is on the realtime device of XFS, which has offsets of its own. */
const REALTIME = 0x1;

/** Unit of the ranges, in bytes. */
const BLOCK = 4096;

/** Extents between yields to the event loop: about a millisecond. */
const YIELD_INTERVAL = 2 ** 14;

/**
 * Returns the ranges in which an image and its base use the same blocks of the same disk, such as those of a
 * clone that were not written to since. Both files are certain to be equal there; elsewhere they may be equal
 * too. The ranges are in order and not adjacent, and consist of whole blocks of 4096 bytes. Returns undefined
 * if the system cannot tell, or if a file is shorter than its size.
 *
 * Nothing may write to either file until the promise settles, or later while the ranges are in use: check
 * the time of modification at the end. Data that is not on the disk yet is written first, which may take
 * seconds. Keep both files open until the promise settles.
 *
 * Maps the base both before and after the image: blocks that were those of the base both times were so when
 * the image was mapped, even if a defragmenter moves either file.
 *
 * Needs Linux, XFS or btrfs, and the optional package `koffi`, because Node has no such call. Subvolumes of
 * btrfs count as different disks.
 */
export async function sharedExtents(
  image: OpenedFile,
  base: OpenedFile,
): Promise<readonly ByteRange[] | undefined> {
  const system = await libc();
  if (system === undefined || !(await areComparable(system, image, base))) return undefined;

  const size = Math.min(image.size, base.size);
  const before = await sharingExtents(system, base.fd, size);
  if (before === undefined) return undefined;
  const mapped = await sharingExtents(system, image.fd, size);
  if (mapped === undefined) return undefined;
  const after = await sharingExtents(system, base.fd, size);
  if (after === undefined) return undefined;
  const shared = await intersectPhysical(await intersectPhysical(before, mapped), after);
  return narrow(toSet(shared, size), BLOCK);
}

/** Returns whether equal physical offsets of two files are the same block of a disk. */
async function areComparable(system: Libc, image: OpenedFile, base: OpenedFile): Promise<boolean> {
  const devices = await Promise.all([image, base].map((file) => deviceOf(system, file)));
  return devices[0] !== undefined && devices[0] === devices[1];
}

/** Returns the device of a file if physical offsets are unique on it. */
async function deviceOf(system: Libc, { fd, size }: OpenedFile): Promise<bigint | undefined> {
  const found = await fstat(fd, { bigint: true });
  if (found.size < size) return undefined;
  const disk = await statfs(`/proc/self/fd/${fd}`).catch(() => undefined);
  if (disk === undefined || !FILE_SYSTEMS.includes(disk.type)) return undefined;
  const attributes = await system.attributes(fd);
  return attributes < 0 || (attributes & REALTIME) !== 0 ? undefined : found.dev;
}

/** Returns the ranges that two files have at the same physical offset. */
async function intersectPhysical(
  one: readonly PhysicalExtent[],
  other: readonly PhysicalExtent[],
): Promise<readonly PhysicalExtent[]> {
  const common: PhysicalExtent[] = [];
  for (let index = 0, at = 0; index < one.length && at < other.length; ) {
    const left = one[index]!;
    const right = other[at]!;
    const start = Math.max(left.start, right.start);
    const end = Math.min(left.end, right.end);
    if (start < end && left.shift === right.shift) common.push({ start, end, shift: left.shift });
    if (left.end === end) index += 1;
    else at += 1;
    if ((index + at) % YIELD_INTERVAL === 0) await setImmediate();
  }
  return common;
}

/** An extent of a file with its physical offset. */
interface PhysicalExtent extends ByteRange {
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
 * Leaves out all extents with another flag: their physical offset is unknown, or does not hold the data as a read
 * returns it (pending, unwritten, compressed, encrypted, inline).
 */
async function sharingExtents(
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
