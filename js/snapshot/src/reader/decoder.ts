import { FrameDecoder, initSync } from "../../wasm/decode.js";
import { SnapshotError } from "../error.js";
import type { Frames } from "../format/frames.js";
import { compiledDecode } from "../wasm/compiled-decode.js";
import { errorOf, instantiate } from "../wasm/module.js";

/** Decodes frames one at a time. */
export class Decoder {
  readonly #memory: WebAssembly.Memory;
  readonly #frames: Frames;
  readonly #decoder: FrameDecoder;

  private constructor(memory: WebAssembly.Memory, frames: Frames, decoder: FrameDecoder) {
    this.#memory = memory;
    this.#frames = frames;
    this.#decoder = decoder;
  }

  /**
   * Calls `use` with a decoder of frames of up to `pieceSize` bytes of data.
   *
   * @param isStrict also checks the content checksums
   * @throws {SnapshotError} `ERR_WORKER`, and what `use` throws
   */
  static async with<T>(
    frames: Frames,
    pieceSize: number,
    isStrict: boolean,
    use: (decoder: Decoder) => Promise<T>,
  ): Promise<T> {
    const { memory } = instantiate(initSync, await compiledDecode());
    const decoder = FrameDecoder.create(pieceSize, isStrict);
    if (decoder === undefined) throw outOfMemory();
    try {
      return await use(new Decoder(memory, frames, decoder));
    } finally {
      decoder.free();
    }
  }

  /**
   * Returns the data of a frame, valid until the next call; empty for a hole.
   *
   * @param bytes the bytes of the file from the start of the frame on
   * @param name the name of the file, for messages
   * @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`, `ERR_WORKER`
   */
  decode(frame: number, bytes: Uint8Array, name: string): Uint8Array {
    const frames = this.#frames;
    const length = frames.compressedLength(frame);
    const record = frames.record(frame);
    this.#view(this.#decoder.record(), record.length).set(record);
    const start = this.#decoder.begin(0);
    if (start === 0) throw this.#error(name);
    this.#view(start, length).set(bytes.subarray(0, length));
    if (this.#decoder.finish(0, length) < 0) throw this.#error(name);
    return this.#view(this.#decoder.out(), frames.isHole(frame) ? 0 : frames.rawLength(frame));
  }

  /** Returns a view of WebAssembly memory, which is valid until the next call of the decoder. */
  #view(start: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, start, length);
  }

  #error(name: string): SnapshotError {
    const error = this.#decoder.take_error();
    if (error === undefined) return outOfMemory();
    return errorOf("ERR_SNAPSHOT_FORMAT", `${name}: `, error, this.#memory);
  }
}

function outOfMemory(): SnapshotError {
  return new SnapshotError("ERR_WORKER", "out of memory for a frame");
}
