/** Finds the cached image of a base, whose data a disk has without fetching it, and copies frames from it. */
import { pause } from "../abort.js";
import { type ImageCache, type LeasedSnapshot, leaseCached } from "../cache/image-cache.js";
import type { DecodeJob } from "../decode/decode-job.js";
import type { Manifest } from "../format/manifest.js";
import { inheritedFrames } from "../format/segments.js";
import { nonZeroRuns } from "../local/copy-image.js";
import { zeroRangeSync } from "../local/disk-space.js";
import { openFile } from "../local/open-file.js";
import { checkLengthSync, readWhole, writeFully } from "../local/read-write.js";
import { wrapSystemErrorsSync, wrapWriteErrors } from "../local/system-errors.js";
import type { DiskFiles } from "./disk-files.js";

/** The image of a snapshot, or of a base of it, that is leased from a cache. */
export interface BaseImage {
  readonly fd: number;
  /** The path of the image, for messages. */
  readonly name: string;
  /** Its size, in bytes. */
  readonly size: number;
  /** The frames of the snapshot whose data it has. */
  readonly frames: ReadonlySet<number>;
  /** Closes the image and ends its lease. */
  close(): Promise<void>;
}

/**
 * Opens the image of a snapshot in a cache, or else that of its latest base. Returns undefined if the cache has none.
 *
 * @throws {SnapshotError} `ERR_CACHE`
 */
export async function openBaseImage(
  cache: ImageCache | undefined,
  manifest: Manifest,
): Promise<BaseImage | undefined> {
  const { info } = manifest;
  const digests = [info, ...(info.delta?.objects ?? [])].map(({ digest }) => digest);
  for (const digest of digests) {
    const leased = cache && (await leaseCached(cache, digest));
    if (leased !== undefined) return openLeased(leased, manifest);
  }
  return undefined;
}

/** Opens a leased image. If that fails, ends the lease. @throws {SnapshotError} `ERR_CACHE` */
export async function openLeased(leased: LeasedSnapshot, wanted: Manifest): Promise<BaseImage> {
  const { manifest, path: name } = leased;
  // The cache may have been closed, which ends the lease, too.
  const release = () => leased.release().catch(() => {});
  try {
    const frames = new Set(inheritedFrames(wanted, manifest).keys());
    const file = await openFile("ERR_CACHE", name, (handle) => handle);
    const close = async () => {
      await file.close();
      await release();
    };
    return { fd: file.fd, name, size: manifest.info.imageSize, frames, close };
  } catch (error) {
    await release();
    throw error;
  }
}

/** How many frames are copied at a time. */
const LANES = 2;

/** How often to look at frames that another call is copying, in milliseconds. */
const POLL_INTERVAL = 1;

/**
 * Copies inherited frames of a disk from the image of the base, without the blocks that were written. Waits for those that
 * another call is copying.
 *
 * @param wanted the frames, of which only inherited ones are copied
 * @throws {SnapshotError} `ERR_CACHE`, `ERR_TARGET`, and the reason of the signal
 */
export async function copyInherited(
  base: BaseImage,
  wanted: Iterable<number>,
  { states, manifest: { frames, info } }: Pick<DecodeJob, "states" | "manifest">,
  files: DiskFiles,
  signal: AbortSignal,
): Promise<void> {
  const copyFrame = async (frame: number, buffer: Buffer) => {
    for (const { imageOffset, length } of frames.segments(frame)) {
      for (const { start, end } of files.sets.written.gaps(imageOffset, imageOffset + length)) {
        const bytes = buffer.subarray(0, end - start);
        await readWhole("ERR_CACHE", base, bytes, start);
        checkLengthSync("ERR_TARGET", { fd: files.file.fd, name: files.path }, end);
        if (files.mayHoldData) {
          wrapSystemErrorsSync("ERR_TARGET", `cannot write ${files.path}`, () =>
            zeroRangeSync(files.file.fd, start, end),
          );
        }
        for (const run of nonZeroRuns(bytes, start)) {
          const part = bytes.subarray(run.start - start, run.end - start);
          await wrapWriteErrors(files.path, writeFully(files.file.fd, part, run.start));
        }
      }
    }
  };
  const copyNext = async (waiting: Iterable<number>) => {
    const buffer = Buffer.allocUnsafe(info.pieceSize);
    for (const frame of waiting) {
      signal.throwIfAborted();
      if (!states.claimInherited(frame)) continue;
      try {
        await copyFrame(frame, buffer);
        states.finish(frame);
      } catch (error) {
        states.inherit(frame);
        throw error;
      }
    }
  };
  for (let left = [...wanted]; ; await pause(POLL_INTERVAL, signal)) {
    const waiting = left.values();
    const copying = Array.from({ length: LANES }, () => copyNext(waiting));
    for (const result of await Promise.allSettled(copying))
      if (result.status === "rejected") throw result.reason;
    // If another call fails, its frames are inherited again.
    left = left.filter((frame) => states.isInBase(frame));
    if (left.length === 0) return;
  }
}
