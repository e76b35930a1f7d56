import type { Writable } from "node:stream";

/** The size of a slab, in bytes. Replies that fit are written into slabs, and sent together. */
const SLAB_SIZE = 2 ** 19;

/** Collects replies, so that many small ones are sent with one system call. */
export class ReplyBuffer {
  readonly #socket: Writable;
  #slab = Buffer.alloc(0);
  /** The bytes of the slab that are to be sent, [start, end). */
  #start = 0;
  #end = 0;
  /** The number of bytes that were ever added. */
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
    if (this.#slab.length - this.#end < count) {
      this.send();
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_SIZE, count));
      [this.#start, this.#end] = [0, 0];
    }
    this.#end += count;
    this.total += count;
    return this.#slab.subarray(this.#end - count, this.#end);
  }

  /** Takes back the last `count` bytes. */
  release(count: number): void {
    this.#end -= count;
    this.total -= count;
  }

  /** Adds bytes without a copy. */
  push(bytes: Buffer): void {
    this.send();
    this.total += bytes.length;
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  /** Sends all that was added. */
  send(): void {
    if (this.length === 0) return;
    if (!this.#socket.destroyed) this.#socket.write(this.#slab.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
