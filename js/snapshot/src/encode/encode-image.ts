import type { WorkOptions } from "../options/work-options.js";
import {
  type Compressed,
  compressPieces,
  type PieceCounts,
  type Pieces,
} from "./compress-pieces.js";

/** Assembles a file from compressed pieces. */
export interface FileEncoder<Piece extends Compressed> {
  /** Returns the beginning of the file. */
  header(): Uint8Array;
  /** Adds a piece, and yields the bytes to write next, including each of its frames from the buffer of the piece. */
  push(piece: Piece): Iterable<Uint8Array>;
  /** Returns the end of the file, with the whole manifest. */
  finish(): Uint8Array;
}

/**
 * Encodes the pieces of an image as a file: worker threads compress them.
 *
 * @param write receives the bytes of the file, in order
 */
export function encodeImage<Task, Piece extends Compressed>(
  encoder: FileEncoder<Piece>,
  pieces: Pieces<Task, Piece>,
  options: WorkOptions,
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  return compressPieces("create", pieces, options, (compressed, counts) =>
    write(bytesOf(encoder, compressed, counts)),
  );
}

async function* bytesOf<Piece extends Compressed>(
  encoder: FileEncoder<Piece>,
  pieces: AsyncIterable<Piece>,
  counts: PieceCounts,
): AsyncGenerator<Uint8Array> {
  yield encoder.header();
  for await (const piece of pieces) {
    for (const chunk of encoder.push(piece)) {
      counts.compressedBytes += chunk.length;
      if (chunk.buffer === piece.bytes.buffer) counts.frames += piece.frameCount ?? 1;
      yield chunk;
    }
    counts.bytes += piece.length;
  }
  yield encoder.finish();
}
