import type { ByteRange } from "./byte-ranges.js";
import { BLOCK_SIZE } from "./limits.js";

const ZEROS = Buffer.alloc(4096);

/** A set of blocks of 4 KiB of an image: one bit for each, in memory that threads share. */
export class BlockSet {
  readonly #bits: Uint8Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#bits = new Uint8Array(buffer);
  }

  /** Returns an empty set for an image. @param imageSize in bytes */
  static of(imageSize: number): BlockSet {
    return new BlockSet(new SharedArrayBuffer(Math.ceil(imageSize / BLOCK_SIZE / 8)));
  }

  /** Returns a set of the same blocks. */
  copy(): BlockSet {
    const set = new BlockSet(new SharedArrayBuffer(this.buffer.byteLength));
    set.#bits.set(this.#bits);
    return set;
  }

  /** Adds the blocks of another set of the same image, whose bits are given. Most of them may be zeros. */
  addBits(bits: Uint8Array): void {
    for (let start = 0; start < bits.length; start += ZEROS.length) {
      const part = bits.subarray(start, start + ZEROS.length);
      if (ZEROS.subarray(0, part.length).equals(part)) continue;
      for (const [at, byte] of part.entries())
        this.#bits[start + at] = (this.#bits[start + at] as number) | byte;
    }
  }

  /** The memory of the set: bit `n % 8` of byte `n >> 3` is block `n`. */
  get bytes(): Uint8Array {
    return this.#bits;
  }

  has(block: number): boolean {
    return ((this.#bits[block >>> 3] as number) & (1 << (block & 7))) !== 0;
  }

  /** Adds the blocks [first, end). */
  add(first: number, end: number): void {
    for (let block = first; block < end; ) {
      const isByte = (block & 7) === 0 && end - block >= 8;
      if (isByte) {
        const last = end - (end & 7);
        // There may be 2^32 blocks.
        this.#bits.fill(0xff, block / 8, last / 8);
        block = last;
      } else {
        this.#bits[block >>> 3] = (this.#bits[block >>> 3] as number) | (1 << (block & 7));
        block += 1;
      }
    }
  }

  /** Adds the blocks of [start, end) of the image, in bytes. */
  addBytes(start: number, end: number): void {
    this.add(Math.floor(start / BLOCK_SIZE), Math.ceil(end / BLOCK_SIZE));
  }

  /** Returns whether all blocks of [first, end) are in the set. */
  hasAll(first: number, end: number): boolean {
    return this.#next(first, end, false) >= end;
  }

  /** Yields the parts of [start, end) of the image, in bytes, that are in blocks of the set. */
  *runs(start: number, end: number): Generator<ByteRange> {
    yield* this.#parts(start, end, true);
  }

  /** Yields the parts of [start, end) of the image, in bytes, that are in no block of the set. */
  *gaps(start: number, end: number): Generator<ByteRange> {
    yield* this.#parts(start, end, false);
  }

  *#parts(start: number, end: number, isMember: boolean): Generator<ByteRange> {
    const endBlock = Math.ceil(end / BLOCK_SIZE);
    let block = Math.floor(start / BLOCK_SIZE);
    while (block < endBlock) {
      const first = this.#next(block, endBlock, isMember);
      if (first >= endBlock) return;
      block = this.#next(first, endBlock, !isMember);
      yield {
        start: Math.max(start, first * BLOCK_SIZE),
        end: Math.min(end, block * BLOCK_SIZE),
      };
    }
  }

  /** Returns the first block of [first, end) that is in the set, or is not; `end` if there is none. */
  #next(first: number, end: number, isMember: boolean): number {
    const skipped = isMember ? 0 : 0xff;
    for (let block = first; block < end; ) {
      if ((block & 7) === 0 && this.#bits[block >>> 3] === skipped) block += 8;
      else if (this.has(block) === isMember) return block;
      else block += 1;
    }
    return end;
  }
}
