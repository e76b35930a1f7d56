import { HedgerowError } from "../error.js";
import { MemoryView, memory } from "../module.js";

const encoder = new TextEncoder();

/** The length in bytes of the buffer that a module keeps for paths. */
const KEPT_LENGTH = 1024;
/** The most bytes that a character of a string becomes in UTF-8. */
const MOST_BYTES = 3;

/** What has a buffer for paths in a module's memory. */
interface KeyOwner {
  /** Makes room for a path of `length` bytes and says where; 0 gives back what a longer one took. */
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
    this.#view = new MemoryView(owner.reserve_key(0), KEPT_LENGTH, all);
  }

  /**
   * Writes a path, and returns its length in bytes. After one that is longer than most, the memory
   * that it took is to be given back by {@link release}.
   */
  write(path: string): number {
    const { read, written } = encoder.encodeInto(path, this.#view.bytes);
    return read === path.length ? written : this.#writeLong(path);
  }

  #writeLong(path: string): number {
    const length = path.length * MOST_BYTES;
    const start = this.#owner.reserve_key(length);
    if (start === 0) {
      const message = `expected a path that there is memory for, found ${path.length} characters`;
      throw new HedgerowError("ERR_ARGUMENT", message);
    }
    this.#view = new MemoryView(start, length, this.#all);
    return encoder.encodeInto(path, this.#view.bytes).written;
  }

  /** Gives back what a path of `length` bytes took beyond the buffer that is kept. */
  release(length: number): void {
    if (length <= KEPT_LENGTH) return;
    this.#view = new MemoryView(this.#owner.reserve_key(0), KEPT_LENGTH, this.#all);
  }
}
