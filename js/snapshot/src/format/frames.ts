/** How long the record of a frame is, in bytes, as `decode.wasm` has it. */
const RECORD_LENGTH = 64;

/** The frames of a snapshot, in memory that workers share. */
export class Frames {
  /** How many there are. */
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

  /** Takes a copy of the records of `count` frames. */
  static copy(memory: WebAssembly.Memory, start: number, count: number): Frames {
    const records = new SharedArrayBuffer(count * RECORD_LENGTH);
    new Uint8Array(records).set(new Uint8Array(memory.buffer, start, records.byteLength));
    return new Frames(records);
  }

  /** Where the frame belongs in the image, in bytes. */
  imageOffset(index: number): number {
    return this.#doubles[index * 8] as number;
  }

  /** Where the frame lies in the file, in bytes. */
  fileOffset(index: number): number {
    return this.#doubles[index * 8 + 1] as number;
  }

  /** How long what the frame stands for is, in bytes. */
  rawLength(index: number): number {
    return this.#words[index * 16 + 4] as number;
  }

  /** How long the frame is in the file, in bytes. */
  compressedLength(index: number): number {
    return this.#words[index * 16 + 5] as number;
  }

  /** Whether the frame stands for zeros. */
  isHole(index: number): boolean {
    return this.#words[index * 16 + 6] !== 0;
  }

  /** The record of the frame, as `decode.wasm` takes it. */
  record(index: number): Uint8Array {
    return this.#bytes.subarray(index * RECORD_LENGTH, (index + 1) * RECORD_LENGTH);
  }
}
