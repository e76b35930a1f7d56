import type { Compressed, Pieces } from "../encode/compress-pieces.js";
import type { CompressedPiece, EncodeData } from "../encode/encode-worker.js";
import { type Stretch, zerosTo } from "../encode/pieces.js";
import { RUN_COMPRESSED_LENGTH, RUN_DIGEST, RUN_LENGTH, zeros } from "../encode/run-records.js";
import type { Frames } from "../format/frames.js";
import type { ImageFile } from "../local/image-file.js";
import type { Encoding } from "../options/create-options.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import { ENCODE_WORKER } from "../workers/scripts.js";
import type { PlannedPiece } from "./copy-plan.js";

/** A piece, compressed or to be copied. */
export interface FlatPiece extends CompressedPiece {
  /** The frames of its runs of data, if they are copied. */
  readonly copied?: readonly number[];
}

/** A part of the image: zeros, or a piece with data. */
interface Task extends Stretch {
  readonly piece?: PlannedPiece | undefined;
}

const NOTHING: Compressed["bytes"] = new Uint8Array(0);

/** Returns all pieces of an image. Only those that are not copied need a worker. */
export async function copiedPieces(
  plan: readonly PlannedPiece[],
  frames: Frames,
  image: ImageFile,
  encoding: Encoding,
): Promise<Pieces<Task, FlatPiece>> {
  const module = await compiledEncode();
  const data: EncodeData = { module, ...encoding, image: image.fd, imageName: image.name };
  return {
    tasks: tasksOf(plan, image.size),
    count: plan.filter(({ isCopied }) => !isCopied).length,
    totalBytes: plan.reduce((sum, { length }) => sum + length, 0),
    ...{ pieceSize: encoding.pieceSize, script: ENCODE_WORKER, data },
    known({ length, isZero, piece }) {
      if (isZero) return { length: 0, runs: zeros(length), bytes: NOTHING };
      return piece && copiedPiece(piece, frames);
    },
  };
}

function* tasksOf(plan: readonly PlannedPiece[], imageSize: number): Generator<Task> {
  let end = 0;
  for (const piece of plan) {
    const { offset, length, isCopied } = piece;
    yield* zerosTo(end, offset);
    yield { offset, length, isZero: false, ...(isCopied ? { piece } : {}) };
    end = offset + length;
  }
  yield* zerosTo(end, imageSize);
}

function copiedPiece({ offset, length, segments }: PlannedPiece, frames: Frames): FlatPiece {
  const records: Uint8Array[] = [];
  let end = offset;
  const addZeros = (to: number) => {
    if (to > end) records.push(new Uint8Array(zeros(to - end)));
  };
  for (const { imageOffset, length, frame } of segments) {
    addZeros(imageOffset);
    const record = new Uint8Array(RUN_LENGTH);
    const view = new DataView(record.buffer);
    view.setFloat64(0, length, true);
    view.setUint32(RUN_COMPRESSED_LENGTH, frames.compressedLength(frame), true);
    record.set(frames.digest(frame), RUN_DIGEST);
    records.push(record);
    end = imageOffset + length;
  }
  addZeros(offset + length);
  const runs = new ArrayBuffer(records.length * RUN_LENGTH);
  for (const [at, record] of records.entries()) new Uint8Array(runs).set(record, at * RUN_LENGTH);
  return { length, runs, bytes: NOTHING, copied: segments.map(({ frame }) => frame) };
}
