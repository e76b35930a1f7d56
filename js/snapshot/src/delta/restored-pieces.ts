import type { LeasedSnapshot } from "../cache/image-cache.js";
import { DecodeJob } from "../decode/decode-job.js";
import type { ImageSegments } from "../format/image-segments.js";
import type { Manifest } from "../format/manifest.js";
import { checkFreeSpace } from "../local/disk-space.js";
import { type Extent, lengthOf } from "../local/extents.js";
import { withTemporaryFile } from "../local/private-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import type { Source } from "../location/source.js";
import type { WorkOptions } from "../options/work-options.js";
import type { BaseImage } from "./delta-worker.js";

/** A base that is open for reading. */
export interface OpenBase {
  readonly manifest: Manifest;
  /** Its image in a cache, or the snapshot from which to restore ranges of it; undefined if the changes are known. */
  readonly data: LeasedSnapshot | Source | undefined;
  /** Its segments, up to the length of the image. */
  readonly segments: ImageSegments;
}

/**
 * Restores ranges of the image of a base into a sparse temporary file, and calls `use` with it. Outside of `wanted`, the
 * file is zeros, or as in the base.
 *
 * @throws {SnapshotError} `ERR_TARGET`, what reading the base throws, and what `use` throws
 */
export async function withRestoredPieces<T>(
  source: Source,
  { manifest, segments }: OpenBase,
  wanted: readonly Extent[],
  options: WorkOptions,
  use: (base: BaseImage) => Promise<T>,
): Promise<T> {
  const frames = framesIn(segments, wanted);
  return withTemporaryFile(async ({ path: name, handle }) => {
    const { imageSize: size } = manifest.info;
    await checkFreeSpace(name, lengthOf(segments.extents((frame) => frames.has(frame))));
    await wrapWriteErrors(name, handle.truncate(size));
    const { fd } = handle;
    const image = { fd, name, mayHoldData: false, journal: undefined };
    const job = new DecodeJob(source.name, manifest, image, (frame) => frames.has(frame));
    if (job.frames > 0) await source.decode(job, options);
    return use({ fd, name, size });
  });
}

/** Returns the frames that hold data of ranges. */
function framesIn(segments: ImageSegments, ranges: readonly Extent[]): ReadonlySet<number> {
  const frames = new Set<number>();
  let at = 0;
  for (const { imageOffset: start, length, frame } of segments) {
    while ((ranges[at]?.end ?? Number.POSITIVE_INFINITY) <= start) at += 1;
    if ((ranges[at]?.start ?? Number.POSITIVE_INFINITY) < start + length) frames.add(frame);
  }
  return frames;
}
