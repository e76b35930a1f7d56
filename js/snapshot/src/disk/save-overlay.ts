/** Deltas of sparse files whose data replaces that of a base: a disk of the base is written to, and saved. */
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImageCache } from "../cache/image-cache.js";
import { checkPieceSize, type DeltaResult } from "../delta/create-delta.js";
import type { EncodingOptions } from "../encode/snapshot-encoder.js";
import { SnapshotError } from "../error.js";
import { type ByteRange, lengthOf } from "../format/byte-ranges.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { SnapshotInfo } from "../format/manifest.js";
import { dataExtents } from "../local/extents.js";
import type { ImageFile } from "../local/image-file.js";
import { readWholeSync } from "../local/read-write.js";
import { wrapSystemErrors } from "../local/system-errors.js";
import { optionsFor } from "../location/base-objects.js";
import type { Location } from "../location/location.js";
import { openDisk } from "./open-disk.js";
import { inFullIfTooLarge, type SaveOptions } from "./save-disk.js";

/** The number of bytes that are written to the disk at a time. */
const WRITE_SIZE = 2 ** 20;

/** What the data of a file replaces. */
interface Overlay {
  readonly file: ImageFile;
  readonly path: string;
  readonly base: Location;
  readonly baseDigest: string | undefined;
  readonly cache: ImageCache | undefined;
  readonly destination: Location;
}

/**
 * Creates a delta at its destination.
 *
 * @throws {SnapshotError} `ERR_IMAGE` if the size differs from that of the base, or the file system does not tell where
 *   holes are; and what `createSnapshot` throws
 */
export async function saveOverlay(
  { file, path, base, baseDigest, cache, destination }: Overlay,
  options: SaveOptions & EncodingOptions,
): Promise<SnapshotInfo & Partial<DeltaResult>> {
  const extents = await exactExtents(file, path);
  const folder = await wrapSystemErrors(
    "ERR_TARGET",
    "cannot make a temporary folder, as TMPDIR says",
    mkdtemp(join(tmpdir(), "hedgerow-overlay-")),
  );
  try {
    const { workers, signal } = options;
    const reading = { ...optionsFor(destination, base, options), workers, signal };
    const disk = await openDisk({
      begun: performance.now(),
      location: base,
      path: join(folder, "image"),
      isNew: true,
      digest: baseDigest?.toLowerCase(),
      cache,
      trace: undefined,
      options: { ...reading, fill: "none", onStall: "error" },
    });
    try {
      const { imageSize, pieceSize } = disk.info;
      if (imageSize !== file.size)
        throw new SnapshotError(
          "ERR_IMAGE",
          `${file.name}: expected ${imageSize} bytes, the size of the base, found ${file.size}`,
        );
      checkPieceSize(options, pieceSize);
      for (const { start, end } of parts(extents)) {
        signal?.throwIfAborted();
        const bytes = Buffer.allocUnsafe(end - start);
        readWholeSync("ERR_IMAGE", file, bytes, start, "ERR_IMAGE_CHANGED");
        await disk.engine.write(start, bytes);
      }
      await file.checkUnchanged();
      const { info } = await inFullIfTooLarge(() =>
        disk.saver.save({ location: destination }, options),
      );
      return info as SnapshotInfo;
    } finally {
      disk.close();
      await disk.closed();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the extents of a file that hold data, exactly: a hole that counted as data would replace the base by zeros.
 *
 * @throws {SnapshotError} `ERR_IMAGE` if the file system does not tell
 */
async function exactExtents(file: ImageFile, path: string): Promise<readonly ByteRange[]> {
  const { bsize } = await wrapSystemErrors("ERR_IMAGE", `cannot read ${path}`, statfs(path));
  const extents = await dataExtents(file.fd, file.size, Number.POSITIVE_INFINITY);
  // File systems without holes say that all of a file is data.
  const mayTell = bsize <= BLOCK_SIZE && (lengthOf(extents ?? []) < file.size || file.isFull);
  if (extents !== undefined && mayTell) return extents;
  const message = `${path}: expected a file system that tells which blocks of 4 KiB are holes, such as ext4, XFS, btrfs or tmpfs`;
  throw new SnapshotError("ERR_IMAGE", message);
}

/** Divides extents into parts that fit into a buffer. */
function* parts(extents: readonly ByteRange[]): Generator<ByteRange> {
  for (const { start, end } of extents)
    for (let at = start; at < end; at += WRITE_SIZE)
      yield { start: at, end: Math.min(at + WRITE_SIZE, end) };
}
