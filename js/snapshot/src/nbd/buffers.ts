/** Buffers of a connection: the bytes that it received, and the replies that it sends. */
import type { Writable } from "node:stream";

/** The maximum number of used chunks at the beginning of the array. */
const MAX_USED = 1024;

const EMPTY = Buffer.alloc(0);

/** Received bytes that are not used yet. */
export class ByteQueue {
  #chunks: Buffer[] = [];
  /** The number of used chunks at the beginning. They are removed together: to remove each one would be slow. */
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

  /**
   * Removes and returns `count` bytes, or returns undefined if fewer have arrived. They may share memory with the
   * chunks.
   */
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

/** The size of a slab, in bytes: room for four large replies, which are sent together. */
const SLAB_SIZE = 2 ** 20 + 2 ** 12;

/** How many unused slabs are kept: allocating one for each large read would keep the garbage collector busy. */
const MAX_FREE = 16;

/** Memory for replies. */
interface Slab {
  readonly bytes: Buffer;
  /** The number of its writes that have not ended. */
  writes: number;
  /** Whether nothing more is added to it. */
  isFull: boolean;
}

/** The slabs of all connections that are not in use. */
const free: Buffer[] = [];

/** Collects replies, so that many small ones are sent with one system call. */
export class ReplyBuffer {
  readonly #socket: Writable;
  #slab: Slab = { bytes: Buffer.alloc(0), writes: 0, isFull: true };
  /** The bytes of the slab that are to be sent, [start, end). */
  #start = 0;
  #end = 0;
  /** The total number of bytes added. */
  total = 0;

  constructor(socket: Writable) {
    this.#socket = socket;
  }

  /** The number of bytes that are to be sent. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** Adds `count` bytes, which the caller fills before it does anything else. */
  reserve(count: number): Buffer {
    if (this.#slab.bytes.length - this.#end < count) {
      this.send();
      this.#slab.isFull = true;
      recycle(this.#slab);
      this.#slab = newSlab(count);
      [this.#start, this.#end] = [0, 0];
    }
    this.#end += count;
    this.total += count;
    return this.#slab.bytes.subarray(this.#end - count, this.#end);
  }

  /** Takes back the last `count` bytes. */
  release(count: number): void {
    this.#end -= count;
    this.total -= count;
  }

  /** Sends all that was added. */
  send(): void {
    if (this.length === 0) return;
    if (!this.#socket.destroyed) {
      const slab = this.#slab;
      slab.writes += 1;
      this.#socket.write(slab.bytes.subarray(this.#start, this.#end), () => {
        slab.writes -= 1;
        recycle(slab);
      });
    }
    this.#start = this.#end;
  }
}

function newSlab(count: number): Slab {
  const kept = count <= SLAB_SIZE ? free.pop() : undefined;
  const bytes = kept ?? Buffer.allocUnsafeSlow(Math.max(SLAB_SIZE, count));
  return { bytes, writes: 0, isFull: false };
}

/** Keeps an unused slab for later. */
function recycle({ bytes, writes, isFull }: Slab): void {
  if (isFull && writes === 0 && bytes.length === SLAB_SIZE && free.length < MAX_FREE) {
    free.push(bytes);
  }
}
