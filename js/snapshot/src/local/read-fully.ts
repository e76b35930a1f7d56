import { read, readSync } from "node:fs";
import { promisify } from "node:util";

const readOnce = promisify(read);

/**
 * Fills `bytes` from an open file, beginning at `position`. Returns the number of bytes read, which is less
 * than the length of `bytes` only at the end of the file.
 */
export function readFullySync(fd: number, bytes: Uint8Array, position: number): number {
  let filled = 0;
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** Does the same as {@link readFullySync}, asynchronously. */
export async function readFully(fd: number, bytes: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < bytes.length) {
    const left = bytes.length - filled;
    const { bytesRead } = await readOnce(fd, bytes, filled, left, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
