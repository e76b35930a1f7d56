import { check_options, initSync, SnapshotEncoder as WasmEncoder } from "../../wasm/encode.js";
import { type Checks, integer } from "../check.js";
import type { ImageFile } from "../local/image-file.js";
import { errorOf, instantiate } from "../wasm/module.js";
import type { FileEncoder } from "./encode-image.js";
import type { CompressedPiece } from "./encode-worker.js";

/** Length of the record of a run in `encode.wasm`, in bytes. */
export const RUN_LENGTH = 48;

/** Offset of the compressed length in the record of a run, in bytes. */
export const RUN_COMPRESSED_LENGTH = 8;

/** Offset of the digest in the record of a run, in bytes. */
export const RUN_DIGEST = 16;

/** Returns the record of a run of zeros. */
export function zeros(length: number): ArrayBuffer {
  const record = new ArrayBuffer(RUN_LENGTH);
  new Float64Array(record)[0] = length;
  return record;
}

/** The options that determine the bytes of a snapshot. */
export interface Encoding {
  readonly level: number;
  readonly pieceSize: number;
}

/** Options of every function that encodes an image. */
export interface EncodingOptions {
  /** zstd compression level, 1 to 19. Default: `3`. */
  readonly level?: number | undefined;
  /**
   * Maximum size of the part of the image in one frame, in bytes: a power of two from 4 KiB to 16 MiB.
   * Smaller pieces make random reads cheaper and compress less. Default: 1 MiB. A delta has
   * the piece size of its base; any other value is an error.
   */
  readonly pieceSize?: number | undefined;
}

/** The checks of the options of an {@link Encoding}. */
export const ENCODING_CHECKS: Checks<Encoding> = {
  level: integer(1, 19),
  pieceSize: integer(2 ** 12, 2 ** 24),
};

/** Returns the options that determine the bytes of a snapshot, with their defaults. */
export function encodingOf({ level = 3, pieceSize = 2 ** 20 }: EncodingOptions): Encoding {
  return { level, pieceSize };
}

/** @throws {SnapshotError} `ERR_ARGUMENT` unless the piece size is a power of two */
export function checkEncoding(module: WebAssembly.Module, { level, pieceSize }: Encoding): void {
  const { memory } = instantiate(initSync, module);
  const error = check_options(level, pieceSize);
  if (error !== undefined) throw errorOf("ERR_ARGUMENT", "", error, memory);
}

/** Encodes a snapshot from compressed runs, in image order. */
export class SnapshotEncoder implements FileEncoder<CompressedPiece> {
  readonly #memory: WebAssembly.Memory;
  readonly #encoder: WasmEncoder;

  /** @throws {SnapshotError} `ERR_IMAGE` if the image exceeds a limit of the format */
  constructor(
    module: WebAssembly.Module,
    private readonly image: ImageFile,
    encoding: Encoding,
  ) {
    this.#memory = instantiate(initSync, module).memory;
    this.#encoder = new WasmEncoder(image.size, encoding.level, encoding.pieceSize);
    this.#check(this.#encoder.is_valid());
  }

  header(): Uint8Array {
    return this.#takeOutput();
  }

  *push({ runs, bytes }: CompressedPiece): Generator<Uint8Array> {
    let start = 0;
    for (let at = 0; at < runs.byteLength; at += RUN_LENGTH) {
      const record = new Uint8Array(runs, at, RUN_LENGTH);
      new Uint8Array(this.#memory.buffer).set(record, this.#encoder.record());
      this.#check(this.#encoder.push());
      const output = this.#takeOutput();
      if (output.length > 0) yield output;
      const length = new DataView(runs, at + RUN_COMPRESSED_LENGTH).getUint32(0, true);
      if (length > 0) yield bytes.subarray(start, start + length);
      start += length;
    }
  }

  finish(): Uint8Array {
    this.#check(this.#encoder.finish());
    return this.#takeOutput();
  }

  free(): void {
    this.#encoder.free();
  }

  /** Returns a copy of the pending output, which stays valid when the module continues. */
  #takeOutput(): Uint8Array {
    const start = this.#encoder.output();
    return new Uint8Array(this.#memory.buffer.slice(start, start + this.#encoder.output_length()));
  }

  #check(isValid: boolean): void {
    if (isValid) return;
    throw errorOf("ERR_IMAGE", `${this.image.name}: `, this.#encoder.error(), this.#memory);
  }
}
