import { SnapshotError } from "../error.js";
import { FIRST_LENGTH, type SnapshotBytes } from "../format/manifest.js";

/** Keeps the end of a snapshot while it is written, so that its manifest can be read. */
export class WrittenTail implements SnapshotBytes {
  #size = 0;
  #kept: Uint8Array[] = [];
  #keptLength = 0;

  constructor(readonly name: string) {}

  /** Number of bytes that have passed. */
  get size(): number {
    return this.#size;
  }

  /** Passes bytes through and keeps the last. The last chunk holds the manifest and everything after it. */
  async *keep(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.#size += chunk.length;
      this.#kept.push(chunk);
      this.#keptLength += chunk.length;
      this.#drop(chunk);
      yield chunk;
    }
  }

  /** Drops chunks that are neither the last one nor part of the first read of a manifest. */
  #drop(last: Uint8Array): void {
    const needed = Math.max(FIRST_LENGTH, last.length);
    for (;;) {
      const first = this.#kept[0];
      if (first === undefined || this.#keptLength - first.length < needed) return;
      this.#kept.shift();
      this.#keptLength -= first.length;
    }
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const start = position - (this.#size - this.#keptLength);
    if (start >= 0) return Buffer.concat(this.#kept).subarray(start, start + length);
    const message = `${this.name}: expected a manifest at the end, found one at byte ${position}`;
    throw new SnapshotError("ERR_SNAPSHOT_FORMAT", message);
  }
}
