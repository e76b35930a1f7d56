/** Bytes that have been received and not been used yet. */
export class ByteQueue {
  #chunks: Buffer[] = [];
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
    const [first] = this.#chunks;
    if (first === undefined || first.length < count) {
      const taken = Buffer.allocUnsafe(count);
      this.fill(taken);
      return taken;
    }
    this.#length -= count;
    if (first.length === count) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(count);
    return first.subarray(0, count);
  }

  /** Moves bytes into `target`, and returns how many there were. */
  fill(target: Uint8Array): number {
    let filled = 0;
    while (filled < target.length && this.#length > 0) {
      const first = this.#chunks[0] as Buffer;
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
      const first = this.#chunks[0] as Buffer;
      skipped += (this.take(Math.min(first.length, count - skipped)) as Buffer).length;
    }
    return skipped;
  }
}
