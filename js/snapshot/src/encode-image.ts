import { SnapshotAssembly } from "./assembly.js";
import type { CreateOptions } from "./create-snapshot.js";
import type { ImageFile } from "./local/image-file.js";
import { checkInteger, workerCount } from "./options.js";
import { pieces, type Stretch } from "./pieces.js";
import { withProgress } from "./progress.js";
import { compiledModule } from "./wasm/module.js";
import type { CompressedPiece, EncodeData, Piece } from "./workers/encode-worker.js";
import { type WorkerPool, withWorkers } from "./workers/pool.js";
import { zeros } from "./workers/runs.js";

const DEFAULT_LEVEL = 3;
const DEFAULT_PIECE_SIZE = 2 ** 20;

/** How many pieces each thread may be ahead of what is written. */
const AHEAD = 4;

/**
 * Makes the snapshot of an image, each piece by whichever thread is free.
 *
 * @param write is given the bytes of the snapshot, in their order
 */
export async function encodeImage(
  image: ImageFile,
  options: CreateOptions,
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const { level = DEFAULT_LEVEL, pieceSize = DEFAULT_PIECE_SIZE } = options;
  // The module knows the limits; these are those of the numbers that it takes.
  checkInteger("level", level, -(2 ** 31), 2 ** 31 - 1);
  checkInteger("pieceSize", pieceSize, 0, 2 ** 32 - 1);
  const count = workerCount(options, Math.ceil(image.size / pieceSize));
  const module = await compiledModule("encode");
  const assembly = new SnapshotAssembly(module, image, level, pieceSize);
  const data: EncodeData = { module, level, pieceSize, image: image.fd, imageName: image.name };
  const script = new URL("./workers/encode-worker.js", import.meta.url);
  try {
    const stretches = pieces(image.size, pieceSize, await image.extents());
    await withWorkers<Piece, CompressedPiece, void>(script, count, data, options.signal, (pool) => {
      const encoding = new Encoding(assembly, pool);
      return withProgress(
        options.onProgress,
        { phase: "create", totalBytes: image.size, counts: () => encoding.counts },
        (error) => void pool.end(error),
        () => write(encoding.bytes(stretches)),
      );
    });
  } finally {
    assembly.free();
  }
}

/** Where the bytes of a snapshot come from, while threads compress what follows. */
class Encoding {
  readonly counts = { bytes: 0, compressedBytes: 0, frames: 0 };
  readonly #assembly: SnapshotAssembly;
  readonly #pool: WorkerPool<Piece, CompressedPiece>;

  constructor(assembly: SnapshotAssembly, pool: WorkerPool<Piece, CompressedPiece>) {
    this.#assembly = assembly;
    this.#pool = pool;
  }

  /** The bytes of the snapshot, in their order. Few pieces are in memory at any time. */
  async *bytes(stretches: Iterable<Stretch>): AsyncGenerator<Uint8Array> {
    yield this.#assembly.header();
    const ahead: Promise<CompressedPiece>[] = [];
    for (const stretch of stretches) {
      const compressed = this.#compress(stretch);
      // It is awaited in its turn; until then, its failure is no surprise.
      compressed.catch(() => {});
      ahead.push(compressed);
      if (ahead.length > AHEAD * this.#pool.size) yield* this.#assemble(ahead.shift());
    }
    for (const compressed of ahead) yield* this.#assemble(compressed);
    yield this.#assembly.finish();
  }

  async #compress(stretch: Stretch): Promise<CompressedPiece> {
    if (!stretch.isZero) return this.#pool.run(stretch);
    return { length: stretch.length, runs: zeros(stretch.length), bytes: new Uint8Array(0) };
  }

  async *#assemble(compressed: Promise<CompressedPiece> | undefined): AsyncGenerator<Uint8Array> {
    if (compressed === undefined) return;
    const { length, runs, bytes } = await compressed;
    this.#pool.throwIfEnded();
    for (const chunk of this.#assembly.push(runs, bytes)) {
      this.counts.compressedBytes += chunk.length;
      if (chunk.buffer === bytes.buffer) this.counts.frames += 1;
      yield chunk;
    }
    this.counts.bytes += length;
  }
}
