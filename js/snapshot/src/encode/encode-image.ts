import { type WorkOptions, workerCount } from "../options/work-options.js";
import { withProgress } from "../progress.js";
import { type WorkerPool, withWorkers } from "../workers/pool.js";
import { ENCODE_WORKER } from "../workers/scripts.js";
import type { CompressedPiece, EncodeData, Piece } from "./encode-worker.js";
import { pieces, type Stretch, toRead } from "./pieces.js";
import { zeros } from "./run-records.js";
import type { SnapshotEncoder } from "./snapshot-encoder.js";

/** Maximum number of pieces, and of bytes in them, that a thread may be ahead of the writer. */
const MAX_AHEAD = 4;
const MAX_BYTES_AHEAD = 2 ** 22;

/**
 * Encodes an image as a snapshot: worker threads compress its pieces.
 *
 * @param write receives the bytes of the snapshot, in order
 */
export async function encodeImage(
  encoder: SnapshotEncoder,
  options: WorkOptions,
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const { module, image, encoding } = encoder;
  const extents = await image.extents();
  const { count, totalBytes } = toRead(image.size, encoding.pieceSize, extents);
  const stretches = pieces(image.size, encoding.pieceSize, extents);
  const data: EncodeData = { module, ...encoding, image: image.fd, imageName: image.name };
  await withWorkers<Piece, CompressedPiece, void>(
    ENCODE_WORKER,
    workerCount(options, count),
    data,
    options.signal,
    (pool) => {
      const stream = new SnapshotStream(encoder, pool);
      return withProgress(
        options.onProgress,
        { phase: "create", totalBytes, counts: () => stream.counts },
        (error) => void pool.end(error),
        () => write(stream.bytes(stretches)),
      );
    },
  );
}

/** Produces the bytes of a snapshot while worker threads compress the pieces that follow. */
class SnapshotStream {
  readonly counts = {
    bytes: 0,
    compressedBytes: 0,
    frames: 0,
    transferredBytes: 0,
    retries: 0,
    hedged: 0,
  };
  readonly #encoder: SnapshotEncoder;
  readonly #pool: WorkerPool<Piece, CompressedPiece>;

  constructor(encoder: SnapshotEncoder, pool: WorkerPool<Piece, CompressedPiece>) {
    this.#encoder = encoder;
    this.#pool = pool;
  }

  /** Yields the bytes of the snapshot, in order. Holds a bounded number of pieces in memory. */
  async *bytes(stretches: Iterable<Stretch>): AsyncGenerator<Uint8Array> {
    yield this.#encoder.header();
    const ahead: Promise<CompressedPiece>[] = [];
    const aheadBySize = Math.floor(MAX_BYTES_AHEAD / this.#encoder.encoding.pieceSize);
    const maxAhead = this.#pool.size * Math.max(1, Math.min(aheadBySize, MAX_AHEAD));
    for (const stretch of stretches) {
      const compressed = this.#compress(stretch);
      // It is awaited later, in order. Until then, a rejection must not count as unhandled.
      compressed.catch(() => {});
      ahead.push(compressed);
      if (ahead.length > maxAhead) yield* this.#append(ahead.shift());
    }
    for (const compressed of ahead) yield* this.#append(compressed);
    yield this.#encoder.finish();
  }

  async #compress(stretch: Stretch): Promise<CompressedPiece> {
    if (!stretch.isZero) return this.#pool.run(stretch);
    return { length: 0, runs: zeros(stretch.length), bytes: new Uint8Array(0) };
  }

  async *#append(compressed: Promise<CompressedPiece> | undefined): AsyncGenerator<Uint8Array> {
    if (compressed === undefined) return;
    const { length, runs, bytes } = await compressed;
    this.#pool.throwIfEnded();
    for (const chunk of this.#encoder.push(runs, bytes)) {
      this.counts.compressedBytes += chunk.length;
      if (chunk.buffer === bytes.buffer) this.counts.frames += 1;
      yield chunk;
    }
    this.counts.bytes += length;
  }
}
