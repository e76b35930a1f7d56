import { HedgerowError } from "../error.js";
import { MemoryView, memory } from "../module.js";

const encoder = new TextEncoder();

/** The length in bytes of the buffer between long paths. Most paths fit. */
const KEPT_LENGTH = 1024;
/** The most bytes that a character of a string becomes in UTF-8. */
const MOST_BYTES = 3;
/** The longest buffer that is asked for: lengths have 32 bits. */
const MAX_LENGTH = 2 ** 30;

/** What has a buffer for paths in a module's memory. */
interface KeyOwner {
  /** Makes the buffer so many bytes long, and says where it lies; 0 if there is no memory for it. */
  reserve_key(length: number): number;
}

/** Writes paths as UTF-8 where a module reads them. Half a surrogate pair becomes U+FFFD. */
export class KeyWriter {
  readonly #owner: KeyOwner;
  readonly #all: () => Uint8Array<ArrayBuffer>;
  #view: MemoryView;

  constructor(owner: KeyOwner, all = memory) {
    this.#owner = owner;
    this.#all = all;
    this.#view = this.#reserve(KEPT_LENGTH);
  }

  /**
   * Writes a path, and returns its length in bytes. After one that is longer than most, the memory
   * that it took is to be given back by {@link release}.
   *
   * @throws {HedgerowError} `ERR_ARGUMENT` for a path that there is no memory for
   */
  write(path: string): number {
    const { read, written } = encoder.encodeInto(path, this.#view.bytes);
    if (read === path.length) return written;
    this.#view = this.#reserve(path.length * MOST_BYTES);
    return encoder.encodeInto(path, this.#view.bytes).written;
  }

  /** Gives back what a path of `length` bytes took beyond the buffer that is kept. */
  release(length: number): void {
    if (length > KEPT_LENGTH) this.#view = this.#reserve(KEPT_LENGTH);
  }

  #reserve(length: number): MemoryView {
    const start = length > MAX_LENGTH ? 0 : this.#owner.reserve_key(length);
    if (start === 0) {
      const message = `not enough memory for a path of ${length} bytes`;
      throw new HedgerowError("ERR_ARGUMENT", message);
    }
    return new MemoryView(start, length, this.#all);
  }
}
