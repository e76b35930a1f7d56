/** The most places of used chunks that are kept. */
const MAX_USED = 1024;

const EMPTY = Buffer.alloc(0);

/** Bytes that have been received and not been used yet. */
export class ByteQueue {
  #chunks: Buffer[] = [];
  /** The number of chunks at the beginning that are used up: to remove each of many from the array takes long. */
  #used = 0;
  #length = 0;

  /** The number of bytes. */
  get length(): number {
    return this.#length;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Removes `count` bytes, if there are as many, and returns them. They share memory with what was pushed. */
  take(count: number): Buffer | undefined {
    if (count > this.#length) return undefined;
    const first = this.#chunks[this.#used];
    if (first === undefined || first.length < count) {
      const taken = Buffer.allocUnsafe(count);
      this.fill(taken);
      return taken;
    }
    this.#length -= count;
    if (first.length === count) this.#removeFirst();
    else this.#chunks[this.#used] = first.subarray(count);
    return first.subarray(0, count);
  }

  #removeFirst(): void {
    this.#chunks[this.#used] = EMPTY;
    this.#used += 1;
    if (this.#length > 0 && this.#used < MAX_USED) return;
    this.#chunks.splice(0, this.#used);
    this.#used = 0;
  }

  /** Moves bytes into `target`, and returns how many there were. */
  fill(target: Uint8Array): number {
    let filled = 0;
    while (filled < target.length && this.#length > 0) {
      const first = this.#chunks[this.#used] as Buffer;
      const part = this.take(Math.min(first.length, target.length - filled)) as Buffer;
      target.set(part, filled);
      filled += part.length;
    }
    return filled;
  }

  /** Removes up to `count` bytes, and returns how many there were. */
  skip(count: number): number {
    let skipped = 0;
    while (skipped < count && this.#length > 0) {
      const first = this.#chunks[this.#used] as Buffer;
      skipped += (this.take(Math.min(first.length, count - skipped)) as Buffer).length;
    }
    return skipped;
  }
}
