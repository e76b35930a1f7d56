/** Checks frames in the thread that compressed them, before anything is written: faulty memory damages snapshots unnoticed. */
import { FrameDecoder, initSync } from "../../wasm/decode.js";
import { SnapshotError } from "../error.js";
import { frameRecord } from "../format/frames.js";
import { errorOf, instantiate } from "../wasm/module.js";
import { RUN_COMPRESSED_LENGTH, RUN_DIGEST, RUN_LENGTH } from "./snapshot-encoder.js";

/** Which frames a thread checks, in a form that crosses threads. */
export interface CheckData {
  /** `decode.wasm`. */
  readonly module: WebAssembly.Module;
  /** The thread checks the frames of one piece in this many. */
  readonly every: number;
}

/** Decodes frames, and compares them with the bytes of the image. */
export class FrameCheck {
  readonly #data: CheckData;
  readonly #memory: WebAssembly.Memory;
  readonly #decoder: FrameDecoder;
  #pieces = 0;

  /** @param image the name of the image, for messages */
  constructor(
    data: CheckData,
    private readonly image: string,
    pieceSize: number,
  ) {
    this.#data = data;
    this.#memory = instantiate(initSync, data.module).memory;
    const decoder = FrameDecoder.create(pieceSize, true);
    if (decoder === undefined) throw new SnapshotError("ERR_WORKER", "out of memory for a frame");
    this.#decoder = decoder;
  }

  free(): void {
    this.#decoder.free();
  }

  /** Returns whether to check the frames of the next piece that has any. */
  isDue(): boolean {
    this.#pieces += 1;
    return (this.#pieces - 1) % this.#data.every === 0;
  }

  /**
   * Checks a frame.
   *
   * @param run the record of its run
   * @param parts the bytes of the image that it holds, in order
   * @throws {SnapshotError} `ERR_WORKER` if it does not decode to them
   */
  check(run: Uint8Array, frame: Uint8Array, parts: readonly Uint8Array[]): void {
    const decoder = this.#decoder;
    this.#write(frameRecord(...lengthsOf(run), run.subarray(RUN_DIGEST)), decoder.record());
    const start = decoder.begin(0);
    if (start !== 0) this.#write(frame, start);
    if (start === 0 || decoder.finish(0, frame.length) < 0) {
      const prefix = `${this.#start()} does not decode: `;
      throw errorOf("ERR_WORKER", prefix, decoder.take_error(), this.#memory);
    }
    let at = decoder.out();
    for (const part of parts) {
      const decoded = new Uint8Array(this.#memory.buffer, at, part.length);
      if (Buffer.compare(part, decoded) !== 0)
        throw new SnapshotError("ERR_WORKER", `${this.#start()} decodes to other bytes`);
      at += part.length;
    }
  }

  #start(): string {
    return `${this.image}: the memory or the processor of this machine may be faulty: a frame of the new snapshot`;
  }

  #write(bytes: Uint8Array, start: number): void {
    new Uint8Array(this.#memory.buffer).set(bytes, start);
  }
}

/** Returns the lengths of a run: in the image, and of its frame, which is 0 for zeros. */
export function lengthsOf(run: Uint8Array): [length: number, compressedLength: number] {
  const view = new DataView(run.buffer, run.byteOffset, RUN_LENGTH);
  return [view.getFloat64(0, true), view.getUint32(RUN_COMPRESSED_LENGTH, true)];
}
