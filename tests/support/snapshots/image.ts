/** Reproducible disk images. */
import { createCipheriv, createHash } from "node:crypto";
import { closeSync, ftruncateSync, openSync, statSync, writeSync } from "node:fs";

/** Returns incompressible bytes, which depend only on the seed. */
export function noise(seed: string, length: number): Buffer {
  const key = createHash("sha256").update(seed).digest();
  return createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

/** Returns letters, which compress to about a third of their size. */
export function letters(seed: string, length: number): Buffer {
  const bytes = noise(seed, length);
  for (let at = 0; at < length; at += 1) bytes[at] = 97 + (bytes[at]! & 7);
  return bytes;
}

/** Writes a sparse file of `size` bytes with `bytes(offset)` at each of `offsets`, and holes elsewhere. */
export function writeSparse(
  path: string,
  size: number,
  offsets: Iterable<number>,
  bytes: (offset: number) => Buffer,
): void {
  const file = openSync(path, "w");
  try {
    ftruncateSync(file, size);
    for (const offset of offsets) {
      const extent = bytes(offset);
      writeSync(file, extent, 0, extent.length, offset);
    }
  } finally {
    closeSync(file);
  }
}

/** Yields the numbers from 0 up to, but not including, `end`, in steps. */
export function* steps(end: number, step: number): Generator<number> {
  for (let number = 0; number < end; number += step) yield number;
}

/** Returns the bytes that a file takes on the disk. */
export function bytesOnDisk(path: string): number {
  return statSync(path).blocks * 512;
}

/** Asserts that bytes are equal. The test framework's own comparison takes seconds for megabytes. */
export function expectSame(found: Buffer, expected: Buffer): void {
  if (found.equals(expected)) return;
  let at = 0;
  while (at < found.length && found[at] === expected[at]) at += 1;
  throw new Error(
    `expected ${expected.length} bytes, found ${found.length}; the first difference is at ${at}`,
  );
}
