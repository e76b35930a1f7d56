/** The length of a frame's record in `decode.wasm`, in bytes. */
const RECORD_LENGTH = 64;

/** The frames of a snapshot, as records in memory that the workers share. */
export class Frames {
  /** The number of frames. */
  readonly count: number;
  readonly #doubles: Float64Array;
  readonly #words: Uint32Array;
  readonly #bytes: Uint8Array;

  constructor(readonly records: SharedArrayBuffer) {
    this.count = records.byteLength / RECORD_LENGTH;
    this.#doubles = new Float64Array(records);
    this.#words = new Uint32Array(records);
    this.#bytes = new Uint8Array(records);
  }

  /** Copies the records of `count` frames out of WebAssembly memory. */
  static copy(memory: WebAssembly.Memory, start: number, count: number): Frames {
    const records = new SharedArrayBuffer(count * RECORD_LENGTH);
    new Uint8Array(records).set(new Uint8Array(memory.buffer, start, records.byteLength));
    return new Frames(records);
  }

  /** Returns the offset of the frame's data in the image, in bytes. */
  imageOffset(index: number): number {
    return this.#doubles[index * 8] as number;
  }

  /** Returns the offset of the frame in the snapshot, in bytes. */
  fileOffset(index: number): number {
    return this.#doubles[index * 8 + 1] as number;
  }

  /** Returns the length of the frame's data in the image, in bytes. */
  rawLength(index: number): number {
    return this.#words[index * 16 + 4] as number;
  }

  /** Returns the length of the frame in the snapshot, in bytes. */
  compressedLength(index: number): number {
    return this.#words[index * 16 + 5] as number;
  }

  /** Returns whether the frame is a hole. */
  isHole(index: number): boolean {
    return this.#words[index * 16 + 6] !== 0;
  }

  /** Returns the frame's record, for `decode.wasm`. */
  record(index: number): Uint8Array {
    return this.#bytes.subarray(index * RECORD_LENGTH, (index + 1) * RECORD_LENGTH);
  }
}
