/** Images that change, and their differences. */
import { noise } from "../../../../tests/support/snapshots/image.js";
import type { Random } from "../../../edge/test/support/random.js";

/** The unit of a delta, in bytes. */
export const BLOCK = 4096;

/** A range of an image: [start, end) in bytes. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns an image of data and zeros. @param most the maximum length, in bytes */
export function randomImage(random: Random, most: number): Buffer {
  const bytes = noise(`image ${random.below(1e9)}`, random.below(most));
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(at + BLOCK * (1 + random.below(40)), bytes.length);
    if (random.below(2) === 0) bytes.fill(0, at, end);
    at = end;
  }
  return bytes;
}

/** Changes of an image. Each changes `bytes`, or returns an image of another length. */
const CHANGES: readonly ((bytes: Buffer, random: Random) => Buffer | undefined)[] = [
  // A cluster of writes.
  (bytes, random) => {
    const at = random.below(bytes.length + 1);
    noise(`cluster ${random.below(1e9)}`, random.below(20 * BLOCK)).copy(bytes, at);
    return undefined;
  },
  // Scattered writes of a few bytes.
  (bytes, random) => {
    for (let count = random.below(20); count > 0 && bytes.length > 0; count -= 1)
      bytes[random.below(bytes.length)] = random.below(256);
    return undefined;
  },
  // Data that becomes zeros.
  (bytes, random) => {
    const at = random.below(bytes.length + 1);
    bytes.fill(0, at, Math.min(at + random.below(60 * BLOCK), bytes.length));
    return undefined;
  },
  // Data that moves.
  (bytes, random) => {
    const from = BLOCK * random.below(bytes.length / BLOCK + 1);
    const to = BLOCK * random.below(bytes.length / BLOCK + 1);
    bytes.copyWithin(to, from, from + random.below(30 * BLOCK));
    return undefined;
  },
  // Growth by data, by zeros, or by both.
  (bytes, random) => {
    const [length, zeros] = [random.below(30 * BLOCK), random.below(30 * BLOCK)];
    const data = noise(`growth ${random.below(1e9)}`, random.below(2) * length);
    return Buffer.concat([bytes, Buffer.alloc(random.below(2) * zeros), data]);
  },
  (bytes, random) => bytes.subarray(0, bytes.length - random.below(bytes.length / 4 + 1)),
  // Data that is the same.
  () => undefined,
];

/** Returns a copy of an image with some changes. */
export function changed(random: Random, image: Buffer): Buffer {
  let bytes = Buffer.from(image);
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const change = CHANGES[random.below(CHANGES.length)]!;
    bytes = Buffer.from(change(bytes, random) ?? bytes);
  }
  return bytes;
}

/** Returns the blocks of an image that differ from another one, found by comparing all of them. */
export function differences(image: Buffer, base: Buffer): Range[] {
  const ranges: Range[] = [];
  for (let start = 0; start < image.length; start += BLOCK) {
    const end = Math.min(start + BLOCK, image.length);
    if (!image.subarray(start, end).equals(base.subarray(start, end))) ranges.push({ start, end });
  }
  return ranges;
}
