/** Encodes an image: worker threads compress its pieces, and an encoder assembles them in order. */
import type { Transfer, TransferOptions } from "../http/transfer.js";
import type { ImageFile } from "../local/image-file.js";
import { type Counts, type Progress, withProgress } from "../progress.js";
import { WorkerPool, type WorkOptions, workerCount } from "../workers/pool.js";
import type { Encoding } from "./snapshot-encoder.js";

/** Options of every function that writes a snapshot. */
export interface WriteOptions extends WorkOptions, TransferOptions {
  /** Whether to replace an existing file or object at the destination. Default: `true`. */
  readonly overwrite?: boolean | undefined;
  /**
   * Whether to decode every frame and compare it with the image before it is written, which adds about the time of a
   * restore. Default: `false`, the frames of the first piece of each thread, and then of one piece in 32.
   */
  readonly verify?: boolean | undefined;
}

/** A snapshot to encode and write to a destination. */
export interface EncodeJob {
  readonly image: ImageFile;
  readonly encoding: Encoding;
  readonly options: WriteOptions;
  readonly transfer: Transfer;
  /**
   * Encodes the image and passes the bytes of the snapshot to `write`, in order. Publish the snapshot only after this
   * has resolved: at its end, it fails if the image has changed. Each call encodes the image anew.
   */
  make(write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void>;
}

/** The maximum number of pieces that a thread may be ahead of the consumer. */
const MAX_AHEAD = 4;

/** The maximum number of bytes in these pieces. */
const MAX_BYTES_AHEAD = 2 ** 22;

/** A piece that was compressed. */
export interface Compressed {
  /** Number of bytes that were read from the image. */
  readonly length: number;
  /** Concatenated data of its frames. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Number of its frames, if their data is written at once. */
  readonly frameCount?: number;
}

/** The pieces of an image to compress, in order. */
export interface Pieces<Task, Result extends Compressed> {
  readonly tasks: Iterable<Task>;
  /** Number of tasks for workers, and of bytes of the image in them. */
  readonly count: number;
  readonly totalBytes: number;
  /** Maximum length of a piece, in bytes. */
  readonly pieceSize: number;
  /** Script and start-up data of the workers. */
  readonly script: string;
  readonly data: unknown;
  /** Returns the result of a task that needs no worker. */
  known?(task: Task): Result | undefined;
}

/** The counters of pieces, which their consumer increases. */
type PieceCounts = { -readonly [Name in "bytes" | "compressedBytes" | "frames"]: number };

/**
 * Calls `use` with the compressed pieces, in order, while worker threads compress those that follow. Holds a
 * bounded number of pieces in memory.
 */
export async function compressPieces<Task, Result extends Compressed, T>(
  phase: Progress["phase"],
  pieces: Pieces<Task, Result>,
  options: WorkOptions,
  use: (results: AsyncIterable<Result>, counts: PieceCounts) => Promise<T>,
): Promise<T> {
  const { script, data, count, totalBytes } = pieces;
  const counted: PieceCounts = { bytes: 0, compressedBytes: 0, frames: 0 };
  const counts = (): Counts => ({ ...counted, transferredBytes: 0, retries: 0, hedged: 0 });
  const workers = workerCount(options, count);
  const pool = new WorkerPool<Task, Result>(script, workers, data, options.signal);
  const fail = (error: unknown) => void pool.end(error);
  try {
    return await withProgress(options.onProgress, { phase, totalBytes, counts }, fail, () =>
      use(inOrder(pieces, pool), counted),
    );
  } finally {
    await pool.end();
  }
}

async function* inOrder<Task, Result extends Compressed>(
  { tasks, pieceSize, known }: Pieces<Task, Result>,
  pool: WorkerPool<Task, Result>,
): AsyncGenerator<Result> {
  const ahead: Promise<Result>[] = [];
  const aheadBySize = Math.floor(MAX_BYTES_AHEAD / pieceSize);
  const maxAhead = pool.size * Math.max(1, Math.min(aheadBySize, MAX_AHEAD));
  const take = async (compressed: Promise<Result>) => {
    const result = await compressed;
    pool.throwIfEnded();
    return result;
  };
  for (const task of tasks) {
    const result = known?.(task);
    const compressed = result === undefined ? pool.run(task) : Promise.resolve(result);
    // It is awaited later, in order. Until then, a rejection must not count as unhandled.
    compressed.catch(() => {});
    ahead.push(compressed);
    const first = ahead.length > maxAhead ? ahead.shift() : undefined;
    if (first !== undefined) yield await take(first);
  }
  for (const compressed of ahead) yield await take(compressed);
}

/** Assembles a file from compressed pieces. */
export interface FileEncoder<Piece extends Compressed> {
  /** Returns the beginning of the file. */
  header(): Uint8Array;
  /** Adds a piece, and yields the bytes to write next, including each of its frames from the buffer of the piece. */
  push(piece: Piece): Iterable<Uint8Array>;
  /** Returns the end of the file, with the whole manifest. */
  finish(): Uint8Array;
  /** Frees its memory. */
  free(): void;
}

/**
 * Encodes the pieces of an image as a file: worker threads compress them.
 *
 * @param encoder assembles them, and is freed
 * @param write receives the bytes of the file, in order
 */
export async function encodeImage<Task, Piece extends Compressed>(
  encoder: FileEncoder<Piece>,
  pieces: Pieces<Task, Piece>,
  options: WorkOptions,
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  try {
    await compressPieces("create", pieces, options, (compressed, counts) =>
      write(bytesOf(encoder, compressed, counts)),
    );
  } finally {
    encoder.free();
  }
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
