import { HedgerowError } from "../error.js";
import { MemoryView } from "../module.js";

const encoder = new TextEncoder();

/** Size of the buffer that is kept between paths, in bytes. Most paths fit. */
const KEPT_LENGTH = 1024;
/** Longest UTF-8 encoding of a UTF-16 code unit, in bytes. */
const MAX_UTF8_LENGTH = 3;
/** Longest buffer, in bytes: lengths have 32 bits. */
const MAX_LENGTH = 2 ** 30;

/** An object of a module that has a buffer for paths in its memory. */
interface KeyOwner {
  /** Resizes the buffer to `length` bytes and returns its address; 0 if there is not enough memory. */
  reserve_key(length: number): number;
}

/** Writes paths as UTF-8 into a module's memory. A lone surrogate becomes U+FFFD. */
export class KeyWriter {
  readonly #owner: KeyOwner;
  readonly #memory: () => Uint8Array<ArrayBuffer>;
  #view: MemoryView;

  constructor(owner: KeyOwner, memory: () => Uint8Array<ArrayBuffer>) {
    this.#owner = owner;
    this.#memory = memory;
    this.#view = this.#reserve(KEPT_LENGTH);
  }

  /**
   * Writes a path and returns its length in bytes. Call {@link release} with that length after use.
   *
   * @throws {HedgerowError} `ERR_ARGUMENT` if there is not enough memory for the path
   */
  write(path: string): number {
    const { read, written } = encoder.encodeInto(path, this.#view.bytes);
    if (read === path.length) return written;
    this.#view = this.#reserve(path.length * MAX_UTF8_LENGTH);
    return encoder.encodeInto(path, this.#view.bytes).written;
  }

  /** Shrinks the buffer after a path of `length` bytes. */
  release(length: number): void {
    if (length > KEPT_LENGTH) this.#view = this.#reserve(KEPT_LENGTH);
  }

  #reserve(length: number): MemoryView {
    const start = length > MAX_LENGTH ? 0 : this.#owner.reserve_key(length);
    if (start === 0) {
      const message = `not enough memory for a path of ${length} bytes`;
      throw new HedgerowError("ERR_ARGUMENT", message);
    }
    return new MemoryView(start, length, this.#memory);
  }
}
