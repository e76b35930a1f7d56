import { compressPieces } from "../encode/compress-pieces.js";
import type { CompressedPiece, EncodeData, Piece } from "../encode/encode-worker.js";
import { RUN_COMPRESSED_LENGTH, RUN_DIGEST, RUN_LENGTH } from "../encode/run-records.js";
import type { Frames } from "../format/frames.js";
import type { ImageSegment } from "../format/image-segments.js";
import type { ImageFile } from "../local/image-file.js";
import type { Encoding } from "../options/create-options.js";
import type { WorkOptions } from "../options/work-options.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import { ENCODE_WORKER } from "../workers/scripts.js";
import type { PlannedPiece } from "./copy-plan.js";

/** The number of frames of an object that are compressed again, to check whether they have the wanted level. */
const SAMPLES = 8;

/**
 * Returns a sample of the frames that are copied from each object, spread evenly over it. Of each group of frames, takes
 * the one where the level matters most: frames that compress very little or very well have the same bytes at any level.
 */
export function samplesOf(pieces: readonly PlannedPiece[], frames: Frames): ImageSegment[] {
  const byObject = new Map<number, ImageSegment[]>();
  for (const { isCopied, segments } of pieces) {
    for (const segment of isCopied ? segments : []) {
      const object = frames.object(segment.frame);
      const own = byObject.get(object) ?? [];
      byObject.set(object, own);
      own.push(segment);
    }
  }
  const work = ({ frame }: ImageSegment) => {
    const compressed = frames.compressedLength(frame);
    return Math.min(compressed, frames.rawLength(frame) - compressed);
  };
  return [...byObject.values()].flatMap((own) => {
    const count = Math.min(SAMPLES, own.length);
    return Array.from({ length: count }, (_, at) => {
      const [start, end] = [at, at + 1].map((n) => Math.floor((n * own.length) / count));
      return own.slice(start, end).reduce((a, b) => (work(b) > work(a) ? b : a));
    });
  });
}

/**
 * Compresses samples again. Returns the objects with a frame whose bytes then differ.
 *
 * @param image has the data of the samples
 */
export async function differingObjects(
  samples: readonly ImageSegment[],
  frames: Frames,
  image: ImageFile,
  encoding: Encoding,
  { workers, signal }: WorkOptions,
): Promise<ReadonlySet<number>> {
  const module = await compiledEncode();
  const data: EncodeData = { module, ...encoding, image: image.fd, imageName: image.name };
  const pieces = {
    tasks: samples.map(({ imageOffset: offset, length }): Piece => ({ offset, length })),
    ...{ count: samples.length, totalBytes: 0, pieceSize: encoding.pieceSize },
    ...{ script: ENCODE_WORKER, data },
  };
  const differing = new Set<number>();
  if (samples.length === 0) return differing;
  await compressPieces<Piece, CompressedPiece, void>(
    "create",
    pieces,
    { workers, signal },
    async (results) => {
      let at = 0;
      for await (const { runs } of results) {
        const { frame } = samples[at] as ImageSegment;
        at += 1;
        if (!isFrame(runs, frames, frame)) differing.add(frames.object(frame));
      }
    },
  );
  return differing;
}

/** Returns whether runs are one frame with the bytes of this one. */
function isFrame(runs: ArrayBuffer, frames: Frames, frame: number): boolean {
  return (
    runs.byteLength === RUN_LENGTH &&
    new DataView(runs).getUint32(RUN_COMPRESSED_LENGTH, true) === frames.compressedLength(frame) &&
    Buffer.compare(new Uint8Array(runs, RUN_DIGEST), frames.digest(frame)) === 0
  );
}
