import { readSync } from "node:fs";

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
