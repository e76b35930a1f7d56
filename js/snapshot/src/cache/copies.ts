/** Copies of images in a cache: for callers, and into images of deltas. */
import { type FileHandle, realpath } from "node:fs/promises";
import { dirname, sep } from "node:path";

import { DecodeJob } from "../decode/decode-job.js";
import { entryPosition } from "../decode/frame-sink.js";
import { SnapshotError } from "../error.js";
import type { Manifest, SnapshotInfo } from "../format/manifest.js";
import type { InheritedFrame } from "../format/segments.js";
import { resolveTarget, writeAtomically } from "../local/atomic-write.js";
import { copyImage, copyInto } from "../local/copy-image.js";
import { zeroHoles } from "../local/disk-space.js";
import { checkDifferentPath, openFile, reading } from "../local/open-file.js";
import { readFully } from "../local/read-write.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import { type Location, localPath, referencedFrom } from "../location/location.js";
import type { WorkOptions } from "../workers/pool.js";
import type { CachedBase, OpenDelta } from "./bases.js";
import type { Lease } from "./leases.js";
import type { ImageContent } from "./record.js";
import { type Fill, FrameDigests } from "./verification.js";

/** Options of `ImageCache.get` for a copy. */
export interface CopyOptions {
  /**
   * Path for a private, writable copy of the image. The copy shares the blocks of the cache on file systems
   * with reflinks (XFS, btrfs); elsewhere its data is copied and its holes stay holes. Default: no copy.
   */
  readonly copyTo?: string | undefined;
  /** Whether the copy may replace an existing file. Default: `true`. */
  readonly overwrite?: boolean | undefined;
  /** Whether to fsync the copy before resolving, to survive a power failure. Default: `false`. */
  readonly durable?: boolean | undefined;
}

/**
 * Returns the path for a copy, if one is requested. Throws if it cannot be written there, before anything is fetched.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`
 */
export async function checkedCopyTarget(
  cacheDirectory: string,
  { copyTo, overwrite }: CopyOptions,
  source: Location,
): Promise<string | undefined> {
  if (copyTo === undefined) return undefined;
  const target = await resolveTarget(localPath("copyTo", copyTo), { overwrite });
  await checkKept(target, source);
  const directory = await realpath(dirname(target)).catch(() => dirname(target));
  if (!`${directory}${sep}`.startsWith(`${cacheDirectory}${sep}`)) return target;
  const message = `copyTo: expected a path outside the cache, found ${target}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/**
 * Throws if a copy would replace a file that the snapshot refers to, whether it is read or not.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export async function checkBaseObjects(
  target: string,
  source: Location,
  { delta }: SnapshotInfo,
): Promise<void> {
  for (const { reference } of delta?.objects ?? [])
    if (reference !== "") await checkKept(target, referencedFrom(source, reference));
}

async function checkKept(target: string, location: Location): Promise<void> {
  if (location.kind !== "file") return;
  await checkDifferentPath("copyTo", target, location.path);
}

/** Makes a private copy of a leased image. @throws {SnapshotError} `ERR_CACHE`, and what `copyImage` throws */
export async function copyLeased(
  lease: Lease,
  target: string,
  { durable: isDurable = false, overwrite, signal }: CopyOptions & WorkOptions,
): Promise<void> {
  const image = await openFile("ERR_CACHE", lease.path, (file) => file);
  try {
    const opened = { fd: image.fd, size: lease.info.imageSize, name: lease.path };
    await copyImage(opened, target, { isDurable, overwrite, signal });
  } finally {
    await image.close();
  }
}

/**
 * Copies the image of a base to `target`, and changes it to that of a delta.
 *
 * @throws {SnapshotError} `ERR_TARGET`, and what restoring throws
 */
export async function copyDelta(
  { source, manifest, base }: OpenDelta,
  target: string,
  options: CopyOptions & WorkOptions,
): Promise<void> {
  const { signal, overwrite, durable: isDurable = false } = options;
  await writeAtomically(target, { signal, overwrite, isDurable }, async (file) => {
    const isWanted = await copyBase(manifest, base, { path: target, file, signal });
    const image = { fd: file.fd, name: target, mayHoldData: true, journal: undefined };
    await source.decode(new DecodeJob(source.name, manifest, image, isWanted), options);
  });
}

/** The image that is copied into. */
export interface BaseCopy {
  readonly path: string;
  readonly file: FileHandle;
  /** The file of the restore journal, if there is one. */
  readonly journal?: FileHandle | undefined;
  /** Whether an interrupted run has made the copy already, and perhaps changed some of it. */
  readonly isResumed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies the image of a base into that of a delta, punches the holes of the delta, and records the frames that the copy
 * contains in the journal. Returns a function that returns whether a frame of the delta must be decoded.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_CACHE`
 */
export async function copyBase(
  manifest: Manifest,
  { lease, content, inherited }: CachedBase,
  { path, file, journal, isResumed, signal }: BaseCopy,
): Promise<(frame: number) => boolean> {
  const { imageSize } = manifest.info;
  const base = await openFile("ERR_CACHE", lease.path, (image) => image);
  try {
    if (!isResumed) {
      const size = Math.min(lease.info.imageSize, imageSize);
      const image = { fd: base.fd, size, name: lease.path };
      // An interrupted run may have copied another base, whose data must not stay in holes of this one.
      await wrapWriteErrors(path, file.truncate(0));
      await copyInto({ image, path, file, signal });
      await wrapWriteErrors(path, file.truncate(imageSize));
      await wrapWriteErrors(path, zeroHoles(file, manifest.frames, imageSize));
    }
    if (journal === undefined) return (frame) => !inherited.has(frame);
    const inBase = fillFrom(base.fd, lease.path, signal);
    const inCopy = isResumed ? fillFrom(file.fd, path, signal) : undefined;
    const entered = new Set<number>();
    const digests = await FrameDigests.create(content.manifest.info.pieceSize, inBase);
    try {
      for (const [frame, from] of inherited) {
        const digest = await digestOf(frame, from, manifest, content, digests);
        if (digest === undefined) continue;
        const copied = inCopy && (await digests.of(manifest.frames, frame, inCopy));
        if (inCopy !== undefined && !copied?.equals(digest)) continue;
        await wrapWriteErrors(path, journal.write(digest, 0, digest.length, entryPosition(frame)));
        entered.add(frame);
      }
    } finally {
      digests.free();
    }
    return (frame) => !entered.has(frame);
  } finally {
    await base.close();
  }
}

/** Returns the digest of a frame in the image of a base, or undefined if the image is damaged there. */
async function digestOf(
  frame: number,
  { base, isWhole }: InheritedFrame,
  { frames }: Manifest,
  { manifest, digest }: ImageContent,
  inBase: FrameDigests,
): Promise<Uint8Array | undefined> {
  if (isWhole) return digest(base);
  // The new digest must not cover bytes that were damaged in the cache.
  const found = await inBase.of(manifest.frames, base);
  return found?.equals(digest(base)) ? inBase.of(frames, frame) : undefined;
}

function fillFrom(fd: number, name: string, signal: AbortSignal | undefined): Fill {
  return async (bytes, position) => {
    signal?.throwIfAborted();
    const read = readFully(fd, bytes, position);
    return (await reading("ERR_CACHE", name, read)) === bytes.length;
  };
}
