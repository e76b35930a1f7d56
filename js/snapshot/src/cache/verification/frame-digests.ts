import { FrameDecoder, initSync } from "../../../wasm/decode.js";
import { SnapshotError } from "../../error.js";
import type { Frames } from "../../format/frames.js";
import { compiledDecode } from "../../wasm/compiled-decode.js";
import { instantiate } from "../../wasm/instantiate.js";

/** Reads bytes of an image at a position. Returns whether all of them are there. */
export type Fill = (bytes: Uint8Array, position: number) => Promise<boolean>;

/** Computes the digests of the segments of frames in an image, as in a restore journal. */
export class FrameDigests {
  readonly #memory: WebAssembly.Memory;
  readonly #decoder: FrameDecoder;
  readonly #buffer: Buffer;
  readonly #fill: Fill;

  private constructor(
    memory: WebAssembly.Memory,
    decoder: FrameDecoder,
    pieceSize: number,
    fill: Fill,
  ) {
    this.#memory = memory;
    this.#decoder = decoder;
    this.#buffer = Buffer.alloc(pieceSize);
    this.#fill = fill;
  }

  /** Calls `use` with an instance. @throws {SnapshotError} `ERR_CACHE`, and what `use` throws */
  static async with<T>(
    pieceSize: number,
    fill: Fill,
    use: (digests: FrameDigests) => Promise<T>,
  ): Promise<T> {
    const { memory } = instantiate(initSync, await compiledDecode());
    const decoder = FrameDecoder.create(pieceSize, false);
    if (decoder === undefined) {
      const message = `cannot allocate memory for pieces of ${pieceSize} bytes`;
      throw new SnapshotError("ERR_CACHE", message);
    }
    try {
      return await use(new FrameDigests(memory, decoder, pieceSize, fill));
    } finally {
      decoder.free();
    }
  }

  /**
   * Returns the digest of the segments of a frame in the image, or undefined if the image is too short.
   *
   * @param fill reads the image, if it is another one
   */
  async of(frames: Frames, frame: number, fill = this.#fill): Promise<Buffer | undefined> {
    let length = 0;
    for (const segment of frames.segments(frame)) {
      const bytes = this.#buffer.subarray(length, length + segment.length);
      if (!(await fill(bytes, segment.imageOffset))) return undefined;
      length += segment.length;
    }
    new Uint8Array(this.#memory.buffer).set(this.#buffer.subarray(0, length), this.#decoder.out());
    const start = this.#decoder.out_digest(length);
    return Buffer.from(new Uint8Array(this.#memory.buffer).slice(start, start + 32));
  }
}
