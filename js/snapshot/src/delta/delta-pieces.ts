import type { Pieces } from "../encode/encode-image.js";
import type { CheckData } from "../encode/frame-check.js";
import { toRead } from "../encode/image-pieces.js";
import type { Encoding } from "../encode/snapshot-encoder.js";
import type { ByteRange } from "../format/byte-ranges.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { ImageFile } from "../local/image-file.js";
import { DELTA_WORKER } from "../workers/scripts.js";
import { type DeltaTask, RangeKind, type TaskRange, taskOf } from "./delta-task.js";
import type { BaseImage, DeltaBatch, DeltaData } from "./delta-worker.js";

/** The bytes in the candidates of a task, unless one piece has more. */
const BATCH_SIZE = 2 ** 20;

/** The number of candidates of a task, unless one piece has more. */
const BATCH_RANGES = 2 ** 10;

/** Whole blocks of an image that a delta may have to contain. */
export interface Candidate extends ByteRange {
  /** Whether they are compared with the base; if not, they count as changed. */
  readonly isCompared: boolean;
  /** Where its bytes are in the file that is read. Default: at `start` */
  readonly position?: number;
}

/** The blocks of an image that may have changed. */
export interface Changes {
  /** In order. They can be iterated several times. */
  readonly candidates: Iterable<Candidate>;
  /** The image of the base, if any are compared. */
  readonly baseImage: BaseImage | undefined;
  /** Returns whether a range of the image may be data, if only the candidates, all of which changed, can be read. */
  readonly mayHoldData?: ((start: number, end: number) => boolean) | undefined;
}

/** Returns the pieces of an image that may have changed, many in a task if little of each has. */
export function changedPieces(
  module: WebAssembly.Module,
  image: ImageFile,
  encoding: Encoding,
  changes: Changes,
  check: CheckData,
): Pieces<DeltaTask, DeltaBatch> {
  const { pieceSize } = encoding;
  const { candidates, baseImage: base } = changes;
  const { fd, name, size: imageSize } = image;
  const data: DeltaData = { module, ...encoding, image: { fd, name }, imageSize, base, check };
  return {
    tasks: deltaTasks(imageSize, pieceSize, changes),
    ...toRead(imageSize, pieceSize, candidates),
    pieceSize: Math.max(pieceSize, BATCH_SIZE),
    script: DELTA_WORKER,
    data,
  };
}

/** Divides candidates into the pieces of `pieceSize` bytes that they touch, and these into tasks. */
export function* deltaTasks(
  imageSize: number,
  pieceSize: number,
  { candidates, mayHoldData }: Pick<Changes, "candidates" | "mayHoldData">,
): Generator<DeltaTask> {
  let ranges: TaskRange[] = [];
  let bytes = 0;
  /** The offset of the last piece, and the number of its first range. */
  let offset = 0;
  let firstRange = 0;
  /** Notes what the rest of the last piece is. */
  const endPiece = () => {
    if (mayHoldData === undefined || firstRange === ranges.length) return;
    const last = ranges.slice(firstRange);
    const gaps = gapsOf(last, offset, Math.min(offset + pieceSize, imageSize));
    const isData = gaps.some(({ start, end }) => mayHoldData(start, end));
    for (const range of last) range.kind = isData ? RangeKind.AMONG_DATA : RangeKind.AMONG_ZEROS;
  };
  for (const { start, end, isCompared, position = start } of candidates) {
    for (let at = start; at < end; ) {
      const first = at - (at % pieceSize);
      if (first !== offset) {
        endPiece();
        if (bytes >= BATCH_SIZE || ranges.length >= BATCH_RANGES) {
          yield taskOf(ranges);
          ranges = [];
          bytes = 0;
        }
        offset = first;
        firstRange = ranges.length;
      }
      const last = Math.min(end, offset + pieceSize);
      ranges.push({
        start: at / BLOCK_SIZE,
        end: Math.ceil(last / BLOCK_SIZE),
        kind: isCompared ? RangeKind.COMPARED : RangeKind.CHANGED,
        position: position + at - start,
      });
      bytes += last - at;
      at = last;
    }
  }
  endPiece();
  if (ranges.length > 0) yield taskOf(ranges);
}

/** Returns the parts of a piece, [start, end) in bytes, that are in none of its ranges. */
function gapsOf(ranges: readonly TaskRange[], start: number, end: number): ByteRange[] {
  const gaps: ByteRange[] = [];
  for (const range of ranges) {
    const next = range.start * BLOCK_SIZE;
    if (start < next) gaps.push({ start, end: next });
    start = range.end * BLOCK_SIZE;
  }
  if (start < end) gaps.push({ start, end });
  return gaps;
}
