import type { Pieces } from "../encode/compress-pieces.js";
import { toRead } from "../encode/pieces.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Extent } from "../local/extents.js";
import type { ImageFile } from "../local/image-file.js";
import type { Encoding } from "../options/create-options.js";
import { DELTA_WORKER } from "../workers/scripts.js";
import type { Candidate } from "./candidates.js";
import {
  AMONG_DATA,
  AMONG_ZEROS,
  CHANGED,
  COMPARED,
  type DeltaTask,
  RANGE_NUMBERS,
} from "./delta-task.js";
import type { BaseImage, DeltaBatch, DeltaData } from "./delta-worker.js";

/** The candidates of a task, unless one piece has more: the bytes in them, and their number. */
const [BATCH_SIZE, BATCH_RANGES] = [2 ** 20, 2 ** 10] as const;

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
): Pieces<DeltaTask, DeltaBatch> {
  const { pieceSize } = encoding;
  const { candidates, baseImage: base } = changes;
  const shared = { image: image.fd, imageName: image.name, imageSize: image.size };
  const data: DeltaData = { module, ...encoding, ...shared, base };
  return {
    tasks: deltaTasks(image.size, pieceSize, changes),
    ...toRead(image.size, pieceSize, candidates),
    ...{ pieceSize: Math.max(pieceSize, BATCH_SIZE), script: DELTA_WORKER, data },
  };
}

/** Divides candidates into the pieces of `pieceSize` bytes that they touch, and these into tasks. */
export function* deltaTasks(
  imageSize: number,
  pieceSize: number,
  { candidates, mayHoldData }: Pick<Changes, "candidates" | "mayHoldData">,
): Generator<DeltaTask> {
  let numbers: number[] = [];
  let [bytes, offset, ofPiece] = [0, 0, 0];
  /** Notes what the rest of the last piece is. */
  const endPiece = () => {
    if (mayHoldData === undefined || ofPiece === numbers.length) return;
    const end = Math.min(offset + pieceSize, imageSize);
    const kind = gapsOf(numbers, ofPiece, offset, end).some((gap) =>
      mayHoldData(gap.start, gap.end),
    )
      ? AMONG_DATA
      : AMONG_ZEROS;
    for (let at = ofPiece + 2; at < numbers.length; at += RANGE_NUMBERS) numbers[at] = kind;
  };
  for (const { start, end, isCompared, position = start } of candidates) {
    for (let at = start; at < end; ) {
      const first = at - (at % pieceSize);
      if (first !== offset) {
        endPiece();
        if (bytes >= BATCH_SIZE || numbers.length >= BATCH_RANGES * RANGE_NUMBERS) {
          yield { ranges: Float64Array.from(numbers) };
          [numbers, bytes] = [[], 0];
        }
        [offset, ofPiece] = [first, numbers.length];
      }
      const last = Math.min(end, offset + pieceSize);
      const kind = isCompared ? COMPARED : CHANGED;
      numbers.push(at / BLOCK_SIZE, Math.ceil(last / BLOCK_SIZE), kind, position + at - start);
      bytes += last - at;
      at = last;
    }
  }
  endPiece();
  if (numbers.length > 0) yield { ranges: Float64Array.from(numbers) };
}

/** Returns the parts of a piece, [start, end) in bytes, that are in none of its ranges. */
function gapsOf(numbers: readonly number[], from: number, start: number, end: number): Extent[] {
  const gaps: Extent[] = [];
  for (let at = from; at < numbers.length; at += RANGE_NUMBERS) {
    const next = (numbers[at] as number) * BLOCK_SIZE;
    if (start < next) gaps.push({ start, end: next });
    start = (numbers[at + 1] as number) * BLOCK_SIZE;
  }
  if (start < end) gaps.push({ start, end });
  return gaps;
}
