import type { Pieces } from "../encode/compress-pieces.js";
import { toRead } from "../encode/pieces.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Extent } from "../local/data-extents.js";
import type { ImageFile } from "../local/image-file.js";
import type { Encoding } from "../options/create-options.js";
import { DELTA_WORKER } from "../workers/scripts.js";
import type { Candidate } from "./candidates.js";
import type { BaseImage, DeltaData, DeltaPiece } from "./delta-worker.js";

/** The blocks of an image that may have changed. */
export interface Changes {
  readonly candidates: readonly Candidate[];
  /** The image of the base, if any are compared. */
  readonly baseImage: BaseImage | undefined;
}

/** Returns the pieces of an image that may have changed. */
export function changedPieces(
  module: WebAssembly.Module,
  image: ImageFile,
  encoding: Encoding,
  { candidates, baseImage: base }: Changes,
): Pieces<DeltaTask, DeltaPiece> {
  const { pieceSize } = encoding;
  const data: DeltaData = { module, ...encoding, image: image.fd, imageName: image.name, base };
  return {
    tasks: deltaPieces(image.size, pieceSize, candidates),
    ...toRead(image.size, pieceSize, candidates),
    ...{ pieceSize, script: DELTA_WORKER, data },
  };
}

/** A piece of an image that a delta may have to contain. Offset and length are in bytes. */
export interface DeltaTask {
  readonly offset: number;
  readonly length: number;
  /** The candidates in it, in blocks from its beginning. */
  readonly ranges: readonly Candidate[];
}

/** Divides candidates into the pieces of `pieceSize` bytes that they touch. The last one may be shorter. */
export function* deltaPieces(
  imageSize: number,
  pieceSize: number,
  candidates: readonly Candidate[],
): Generator<DeltaTask> {
  let offset = 0;
  let ranges: Candidate[] = [];
  const piece = () => ({ offset, length: Math.min(pieceSize, imageSize - offset), ranges });
  for (const { start, end, isCompared } of candidates) {
    for (let at = start; at < end; ) {
      const first = at - (at % pieceSize);
      if (first !== offset && ranges.length > 0) {
        yield piece();
        ranges = [];
      }
      offset = first;
      const last = Math.min(end, offset + pieceSize);
      ranges.push({ ...blocksOf(at - offset, last - offset), isCompared });
      at = last;
    }
  }
  if (ranges.length > 0) yield piece();
}

function blocksOf(start: number, end: number): Extent {
  return { start: start / BLOCK_SIZE, end: Math.ceil(end / BLOCK_SIZE) };
}
