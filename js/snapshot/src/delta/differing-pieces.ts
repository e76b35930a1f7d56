/** Compares an image with a base whose image is not in the cache: by digests first, then with restored ranges. */
import type { LeasedSnapshot } from "../cache/image-cache.js";
import { DecodeJob } from "../decode/decode-job.js";
import { compressPieces } from "../encode/encode-image.js";
import type { CompressedPiece } from "../encode/encode-worker.js";
import { imagePieces } from "../encode/image-pieces.js";
import {
  type Encoding,
  RUN_COMPRESSED_LENGTH,
  RUN_DIGEST,
  RUN_LENGTH,
} from "../encode/snapshot-encoder.js";
import { type ByteRange, lengthOf, toSet, widen } from "../format/byte-ranges.js";
import type { Manifest } from "../format/manifest.js";
import type { ImageSegment, ImageSegments } from "../format/segments.js";
import { checkFreeSpace } from "../local/disk-space.js";
import type { ImageFile } from "../local/image-file.js";
import { openTemporaryFile, type TemporaryFile } from "../local/private-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import type { Source } from "../location/source.js";
import type { WorkOptions } from "../workers/pool.js";

/** A base that is open for reading. */
export interface OpenBase {
  readonly manifest: Manifest;
  /** Its image in a cache, or the snapshot from which to restore ranges of it; undefined if the changes are known. */
  readonly data: LeasedSnapshot | Source | undefined;
  /** Its segments, up to the length of the image. */
  readonly segments: ImageSegments;
  close(): Promise<void>;
}

/**
 * Finds the pieces of an image that may differ from the base, without the base's data: compresses every piece, and
 * compares the digests of its frames with those in the manifest.
 */
export async function differingPieces(
  image: ImageFile,
  encoding: Encoding,
  base: ImageSegments,
  options: WorkOptions,
): Promise<ByteRange[]> {
  const pieces = await imagePieces(image, encoding);
  const comparison = new DigestComparison(base);
  await compressPieces("compare", pieces, options, async (results, counts) => {
    for await (const piece of results) {
      comparison.add(piece);
      counts.bytes += piece.length;
    }
  });
  return widen(toSet(comparison.differing, image.size), encoding.pieceSize, image.size);
}

/** Compares the runs of an image with the segments of its base, in order. */
class DigestComparison {
  readonly differing: ByteRange[] = [];
  readonly #base: ImageSegments;
  readonly #segments: Iterator<ImageSegment, undefined>;
  #next: ImageSegment | undefined;
  #offset = 0;

  constructor(base: ImageSegments) {
    this.#base = base;
    this.#segments = base[Symbol.iterator]();
    this.#next = this.#segments.next().value;
  }

  /** Adds the next piece of the image, or the zeros until the next one. */
  add({ runs }: CompressedPiece): void {
    const view = new DataView(runs);
    const start = this.#offset;
    let isSame = true;
    for (let at = 0; at < runs.byteLength; at += RUN_LENGTH) {
      const length = view.getFloat64(at, true);
      const isData = view.getUint32(at + RUN_COMPRESSED_LENGTH, true) > 0;
      const digest = new Uint8Array(runs, at + RUN_DIGEST, RUN_LENGTH - RUN_DIGEST);
      if (isData && !this.#takeSame(this.#offset, length, digest)) isSame = false;
      this.#offset += length;
    }
    const end = this.#offset;
    if (!isSame) this.differing.push({ start, end });
    this.#takeUntil(end);
  }

  /** Takes the next segment if it is a whole frame at that offset and with that data. */
  #takeSame(offset: number, length: number, digest: Uint8Array): boolean {
    const { frames } = this.#base;
    const next = this.#next;
    if (next?.imageOffset !== offset || next.length !== length) return false;
    if (next.frameOffset !== 0 || frames.rawLength(next.frame) !== length) return false;
    if (Buffer.compare(frames.digest(next.frame), digest) !== 0) return false;
    this.#next = this.#segments.next().value;
    return true;
  }

  /** Takes the segments that begin before the end of a piece, and counts each as differing. */
  #takeUntil(end: number): void {
    for (let next = this.#next; next !== undefined && next.imageOffset < end; ) {
      this.differing.push({
        start: next.imageOffset,
        end: next.imageOffset + next.length,
      });
      next = this.#segments.next().value;
      this.#next = next;
    }
  }
}

/**
 * Restores ranges of the image of a base into a sparse temporary file, which the caller closes. Outside of `wanted`, the
 * file is zeros, or as in the base.
 *
 * @throws {SnapshotError} `ERR_TARGET`, and what reading the base throws
 */
export async function restoreRanges(
  source: Source,
  { manifest, segments }: OpenBase,
  wanted: readonly ByteRange[],
  options: WorkOptions,
): Promise<TemporaryFile> {
  const frames = framesIn(segments, wanted);
  const file = await openTemporaryFile();
  const { path: name, handle } = file;
  try {
    await checkFreeSpace(name, lengthOf(segments.extents((frame) => frames.has(frame))));
    await wrapWriteErrors(name, handle.truncate(manifest.info.imageSize));
    const image = { fd: handle.fd, name, mayHoldData: false, journal: undefined };
    const job = new DecodeJob(source.name, manifest, image, (frame) => frames.has(frame));
    if (job.frames > 0) await source.decode(job, options);
    return file;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Returns the frames that hold data of ranges. */
function framesIn(segments: ImageSegments, ranges: readonly ByteRange[]): ReadonlySet<number> {
  const frames = new Set<number>();
  let at = 0;
  for (const { imageOffset: start, length, frame } of segments) {
    while ((ranges[at]?.end ?? Number.POSITIVE_INFINITY) <= start) at += 1;
    if ((ranges[at]?.start ?? Number.POSITIVE_INFINITY) < start + length) frames.add(frame);
  }
  return frames;
}
