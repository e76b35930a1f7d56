import { SnapshotError } from "../error.js";
import { FIRST_LENGTH, type SnapshotBytes } from "../format/manifest.js";

/** The end of a snapshot that goes by: as much as it takes to read its manifest. */
export class WrittenTail implements SnapshotBytes {
  #size = 0;
  #kept: Uint8Array[] = [];
  #keptLength = 0;

  constructor(readonly name: string) {}

  /** How much has gone by, in bytes. */
  get size(): number {
    return this.#size;
  }

  /** The bytes, as they go by. The last of them is the manifest, with all that follows it. */
  async *keep(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.#size += chunk.length;
      this.#kept.push(chunk);
      this.#keptLength += chunk.length;
      this.#drop(chunk);
      yield chunk;
    }
  }

  /** Drops what is before the last chunk, and before what is read at first. */
  #drop(last: Uint8Array): void {
    const least = Math.max(FIRST_LENGTH, last.length);
    for (;;) {
      const first = this.#kept[0];
      if (first === undefined || this.#keptLength - first.length < least) return;
      this.#kept.shift();
      this.#keptLength -= first.length;
    }
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const start = position - (this.#size - this.#keptLength);
    if (start >= 0) return Buffer.concat(this.#kept).subarray(start, start + length);
    const message = `${this.name}: expected its end to be read, found byte ${position} was wanted`;
    throw new SnapshotError("ERR_SNAPSHOT_FORMAT", message);
  }
}
