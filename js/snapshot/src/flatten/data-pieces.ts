import type { Frames } from "../format/frames.js";
import type { ImageSegment } from "../format/image-segments.js";
import { BLOCK_SIZE, MIN_HOLE_LENGTH } from "../format/limits.js";

/** A piece of the image with data. */
export interface DataPiece {
  /** Its offset in the image, and its length, in bytes. */
  readonly offset: number;
  readonly length: number;
  /** The parts of it that are data, in order. A segment may reach beyond the piece. */
  readonly segments: readonly ImageSegment[];
}

/** Yields the pieces of an image that have data, in order. */
export function* dataPieces(
  segments: Iterable<ImageSegment>,
  imageSize: number,
  pieceSize: number,
): Generator<DataPiece> {
  let [offset, own]: [number, ImageSegment[]] = [0, []];
  const piece = () => {
    return { offset, length: Math.min(pieceSize, imageSize - offset), segments: own };
  };
  for (const segment of segments) {
    const { imageOffset, length } = segment;
    const start = imageOffset - (imageOffset % pieceSize);
    for (let next = start; next < imageOffset + length; next += pieceSize) {
      if (next !== offset) {
        if (own.length > 0) yield piece();
        [offset, own] = [next, []];
      }
      own.push(segment);
    }
  }
  if (own.length > 0) yield piece();
}

/**
 * Returns whether the frames of a piece are those that a writer of full snapshots cuts from it: whole frames with
 * holes between them.
 */
export function isCutWhole({ offset, length, segments }: DataPiece, frames: Frames): boolean {
  const pieceEnd = offset + length;
  let end = offset;
  for (const { imageOffset, frameOffset, length, frame } of segments) {
    const isWhole = frameOffset === 0 && length === frames.rawLength(frame);
    const isFirst = imageOffset === offset;
    if (!isWhole || imageOffset < offset || imageOffset + length > pieceEnd) return false;
    if (!isFirst && !isHole(imageOffset - end)) return false;
    end = imageOffset + length;
  }
  return end === pieceEnd || isHole(pieceEnd - end);
}

function isHole(zeros: number): boolean {
  // The last block of the image may be shorter.
  return Math.ceil(zeros / BLOCK_SIZE) * BLOCK_SIZE >= MIN_HOLE_LENGTH;
}
