import { initSync, DeltaEncoder as WasmEncoder } from "../../wasm/encode.js";
import type { FileEncoder } from "../encode/encode-image.js";
import type { Encoding } from "../encode/snapshot-encoder.js";
import { SnapshotError } from "../error.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Manifest } from "../format/manifest.js";
import type { ImageFile } from "../local/image-file.js";
import { errorOf, instantiate } from "../wasm/module.js";
import type { DeltaBatch } from "./delta-worker.js";

/** Length of the record of a piece of a delta in `encode.wasm`, in bytes. */
export const DELTA_PIECE_LENGTH = 16;

/** Length of the record of a run of a delta in `encode.wasm`, in bytes. */
export const DELTA_RUN_LENGTH = 12;

/** The frame number in the record of an unchanged run. */
const UNCHANGED = 0xffff_fffe;

/** The error of a delta that would have more frames or mappings than the format allows. */
export class DeltaTooLargeError extends SnapshotError {}

/** Assembles a delta from the pieces that changed, in image order. */
export class DeltaEncoder implements FileEncoder<DeltaBatch> {
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
    this.#memory = instantiate(initSync, module).memory;
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

  *push(batch: DeltaBatch): Generator<Uint8Array> {
    const { pieces, frames, frameCount, runs, bytes } = batch;
    const pieceCount = pieces.byteLength / DELTA_PIECE_LENGTH;
    this.#write(new Uint8Array(pieces), this.#encoder.reserve_pieces(pieceCount));
    this.#write(new Uint8Array(frames), this.#encoder.reserve_frames(frameCount));
    const runCount = runs.byteLength / DELTA_RUN_LENGTH;
    this.#write(new Uint8Array(runs), this.#encoder.reserve_runs(runCount));
    this.#check(this.#encoder.push());
    this.#changedBytes += changedBytesOf(batch, this.#image.size);
    if (bytes.length > 0) yield bytes;
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
    const error = this.#encoder.take_error();
    const failure = errorOf("ERR_IMAGE", `${this.#image.name}: `, error, this.#memory);
    if (!this.#encoder.is_too_large()) throw failure;
    throw new DeltaTooLargeError(failure.code, failure.message);
  }
}

/** Returns the number of bytes of an image in the blocks of pieces that changed. */
function changedBytesOf(
  { pieces, runs }: { readonly pieces: ArrayBuffer; readonly runs: ArrayBuffer },
  imageSize: number,
): number {
  const counts = new Uint32Array(pieces);
  const words = new Uint32Array(runs);
  const firsts = new Float64Array(pieces);
  let bytes = 0;
  for (let piece = 0, at = 0; piece * 4 < counts.length; piece += 1) {
    let block = firsts[piece * 2] as number;
    for (let runsLeft = counts[piece * 4 + 3] as number; runsLeft > 0; runsLeft -= 1, at += 3) {
      const end = block + (words[at] as number);
      const isChanged = words[at + 1] !== UNCHANGED;
      if (isChanged) bytes += Math.min(end * BLOCK_SIZE, imageSize) - block * BLOCK_SIZE;
      block = end;
    }
  }
  return bytes;
}
