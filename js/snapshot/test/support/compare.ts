/** Comparisons of large sparse images. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { extentsOf } from "./extents.js";

const CHUNK = 2 ** 20;

/** Checks that two files are equal. Skips what is a hole in both. */
export async function expectSameFiles(one: string, other: string): Promise<void> {
  const [size, otherSize] = [statSync(one).size, statSync(other).size];
  if (size !== otherSize) throw new Error(`${other}: expected ${size} bytes, found ${otherSize}`);
  const [first, second] = [openSync(one, "r"), openSync(other, "r")];
  try {
    for (const { start, end } of [...(await extentsOf(one)), ...(await extentsOf(other))]) {
      for (let position = start; position < end; position += CHUNK) {
        const length = Math.min(CHUNK, end - position);
        if (readAt(first, position, length).equals(readAt(second, position, length))) continue;
        throw new Error(`${other}: the ${length} bytes from offset ${position} differ`);
      }
    }
  } finally {
    closeSync(first);
    closeSync(second);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const count = readSync(file, bytes, 0, length, position);
  if (count !== length) throw new Error(`expected ${length} bytes, found ${count}`);
  return bytes;
}

/** Checks the same by a Python program that finds holes itself, independently of this package. */
export function expectSameBytes(one: string, other: string): void {
  const script = fileURLToPath(new URL("compare.py", import.meta.url));
  execFileSync("python3", [script, one, other], { stdio: "pipe" });
}
