import { compressPieces } from "../encode/compress-pieces.js";
import type { CompressedPiece } from "../encode/encode-worker.js";
import { imagePieces } from "../encode/image-pieces.js";
import { RUN_COMPRESSED_LENGTH, RUN_DIGEST, RUN_LENGTH } from "../encode/run-records.js";
import type { ImageSegment, ImageSegments } from "../format/image-segments.js";
import { type Extent, toSet, widen } from "../local/extents.js";
import type { ImageFile } from "../local/image-file.js";
import type { Encoding } from "../options/create-options.js";
import type { WorkOptions } from "../options/work-options.js";

/**
 * Finds the pieces of an image that may differ from the base, without the base's data: compresses every piece, and
 * compares the digests of its frames with those in the manifest.
 */
export async function differingPieces(
  image: ImageFile,
  encoding: Encoding,
  base: ImageSegments,
  options: WorkOptions,
): Promise<Extent[]> {
  const pieces = await imagePieces(image, encoding, true);
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
  readonly differing: Extent[] = [];
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

  /** Takes the next segment if it is a whole frame at that place and with that data. */
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
