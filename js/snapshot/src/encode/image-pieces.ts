/** The pieces of an image that worker threads read and compress, and the zeros between them. */

import type { ByteRange } from "../format/byte-ranges.js";
import type { ImageFile } from "../local/image-file.js";
import { compiledDecode } from "../wasm/compiled-decode.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import { ENCODE_WORKER } from "../workers/scripts.js";
import type { Pieces, WriteOptions } from "./encode-image.js";
import type { CompressedPiece, EncodeData } from "./encode-worker.js";
import type { CheckData } from "./frame-check.js";
import { type Encoding, zeros } from "./snapshot-encoder.js";

/** A part of an image: a piece to read, or zeros. */
export interface Stretch {
  readonly offset: number;
  readonly length: number;
  readonly isZero: boolean;
}

/** Maximum length of zeros in one stretch, in bytes: its frames take 2 MiB in the snapshot. */
const MAX_ZEROS = 2 ** 36;

/**
 * Divides an image into pieces of `pieceSize` bytes; the last one may be shorter. Pieces that touch no
 * extent are zeros and need not be read: adjacent ones are yielded together.
 */
export function* pieces(
  imageSize: number,
  pieceSize: number,
  extents: readonly ByteRange[],
): Generator<Stretch> {
  let offset = 0;
  for (const { start, end } of regions(imageSize, pieceSize, extents)) {
    yield* zerosTo(offset, start);
    for (offset = start; offset < end; offset += pieceSize) {
      yield { offset, length: Math.min(pieceSize, end - offset), isZero: false };
    }
    offset = end;
  }
  yield* zerosTo(offset, imageSize);
}

/** Returns the number of pieces to read, and their bytes. */
export function toRead(imageSize: number, pieceSize: number, extents: Iterable<ByteRange>) {
  let count = 0;
  let totalBytes = 0;
  for (const { start, end } of regions(imageSize, pieceSize, extents)) {
    count += Math.ceil((end - start) / pieceSize);
    totalBytes += end - start;
  }
  return { count, totalBytes };
}

/** Yields the extents, widened to whole pieces. */
function* regions(
  imageSize: number,
  pieceSize: number,
  extents: Iterable<ByteRange>,
): Generator<ByteRange> {
  let previousEnd = 0;
  for (const extent of extents) {
    const start = Math.max(previousEnd, extent.start - (extent.start % pieceSize));
    const end = Math.min(Math.ceil(extent.end / pieceSize) * pieceSize, imageSize);
    if (end <= start) continue;
    yield { start, end };
    previousEnd = end;
  }
}

/** Yields zeros, in stretches of limited length. */
function* zerosTo(start: number, end: number): Generator<Stretch> {
  for (let offset = start; offset < end; offset += MAX_ZEROS) {
    yield { offset, length: Math.min(MAX_ZEROS, end - offset), isZero: true };
  }
}

/** Each thread checks the frames of its first piece, and then of one piece in this many. */
const SAMPLED = 32;

/** Returns which frames each thread checks: a sample, or all of them. */
export async function checkOf({ verify = false }: WriteOptions): Promise<CheckData> {
  return { module: await compiledDecode(), every: verify ? 1 : SAMPLED };
}

/**
 * Returns all pieces of an image. Those without data need no worker.
 *
 * @param check which frames to check. Without it, results have the records of the runs only, and no data
 */
export async function imagePieces(
  image: ImageFile,
  encoding: Encoding,
  check?: CheckData,
): Promise<Pieces<Stretch, CompressedPiece>> {
  const extents = await image.extents();
  const { pieceSize } = encoding;
  const module = await compiledEncode();
  const { fd, name } = image;
  const data: EncodeData = { module, ...encoding, image: { fd, name }, check };
  return {
    tasks: pieces(image.size, pieceSize, extents),
    ...toRead(image.size, pieceSize, extents),
    pieceSize,
    script: ENCODE_WORKER,
    data,
    known({ length, isZero }) {
      return isZero ? { length: 0, runs: zeros(length), bytes: new Uint8Array(0) } : undefined;
    },
  };
}
