import { read, readSync } from "node:fs";
import { promisify } from "node:util";

const readOnce = promisify(read);

/**
 * Fills `bytes` from `position` of an open file on. Returns how many bytes there were before the end.
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

/** The same, while others get their turn. */
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
