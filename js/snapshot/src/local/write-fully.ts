import { writeSync } from "node:fs";

/** Writes all of `bytes` to `position` of an open file. */
export function writeFullySync(fd: number, bytes: Uint8Array, position: number): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(fd, bytes, written, bytes.length - written, position + written);
  }
}
