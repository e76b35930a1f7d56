import { initSync, DeltaEncoder as WasmEncoder } from "../../wasm/encode.js";
import type { FileEncoder } from "../encode/encode-image.js";
import { RUN_COMPRESSED_LENGTH, RUN_LENGTH } from "../encode/run-records.js";
import { SnapshotError } from "../error.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Manifest } from "../format/manifest.js";
import type { ImageFile } from "../local/image-file.js";
import type { Encoding } from "../options/create-options.js";
import { errorOf } from "../wasm/wasm-error.js";
import { changedBlocks, DELTA_RUN_LENGTH } from "./delta-run-records.js";
import type { DeltaPiece } from "./delta-worker.js";

/** Assembles a delta from the pieces that changed, in image order. */
export class DeltaEncoder implements FileEncoder<DeltaPiece> {
  readonly #memory: WebAssembly.Memory;
  readonly #encoder: WasmEncoder;
  readonly #image: ImageFile;
  readonly #references: readonly string[];
  #changedBytes = 0;

  /**
   * @param references of the base, and of the base objects in its manifest
   * @throws {SnapshotError} `ERR_IMAGE` if the image exceeds a limit of the format
   */
  constructor(
    module: WebAssembly.Module,
    image: ImageFile,
    { level, pieceSize }: Encoding,
    { info, tail }: Manifest,
    references: readonly string[],
  ) {
    this.#memory = initSync({ module }).memory;
    this.#image = image;
    this.#references = references;
    this.#encoder = new WasmEncoder(image.size, level, pieceSize, info.fileSize);
    try {
      const start = this.#encoder.reserve_tail(tail.length);
      if (start === 0) {
        const message = `${image.name}: out of memory for a manifest of ${tail.length} bytes`;
        throw new SnapshotError("ERR_IMAGE", message);
      }
      this.#write(tail, start);
      this.#check(this.#encoder.begin());
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** The number of bytes of the image in blocks that changed so far. */
  get changedBytes(): number {
    return this.#changedBytes;
  }

  header(): Uint8Array {
    return this.#takeOutput();
  }

  *push({ offset, length, frames, runs, bytes }: DeltaPiece): Generator<Uint8Array> {
    const frameCount = frames.byteLength / RUN_LENGTH;
    this.#write(new Uint8Array(frames), this.#encoder.reserve_frames(frameCount));
    const runCount = runs.byteLength / DELTA_RUN_LENGTH;
    this.#write(new Uint8Array(runs), this.#encoder.reserve_runs(runCount));
    this.#check(this.#encoder.push(offset / BLOCK_SIZE));
    this.#changedBytes += Math.min(changedBlocks(runs) * BLOCK_SIZE, length);
    const records = new DataView(frames);
    for (let at = 0, start = 0; at < frames.byteLength; at += RUN_LENGTH) {
      const end = start + records.getUint32(at + RUN_COMPRESSED_LENGTH, true);
      yield bytes.subarray(start, end);
      start = end;
    }
  }

  finish(): Uint8Array {
    for (const reference of this.#references) {
      const text = Buffer.from(reference);
      this.#write(text, this.#encoder.reserve_reference(text.length));
      this.#encoder.add_reference();
    }
    this.#check(this.#encoder.finish());
    return this.#takeOutput();
  }

  free(): void {
    this.#encoder.free();
  }

  #write(bytes: Uint8Array, start: number): void {
    new Uint8Array(this.#memory.buffer).set(bytes, start);
  }

  /** Returns a copy of the pending output, which stays valid when the module continues. */
  #takeOutput(): Uint8Array {
    const start = this.#encoder.output();
    return new Uint8Array(this.#memory.buffer.slice(start, start + this.#encoder.output_length()));
  }

  #check(isValid: boolean): void {
    if (isValid) return;
    throw errorOf("ERR_IMAGE", `${this.#image.name}: `, this.#encoder.take_error(), this.#memory);
  }
}
