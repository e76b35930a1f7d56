import { write, writeSync } from "node:fs";
import { promisify } from "node:util";

const writeOnce = promisify(write);

/** Writes all of `bytes` at `position` of an open file. */
export function writeFullySync(fd: number, bytes: Uint8Array, position: number): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(fd, bytes, written, bytes.length - written, position + written);
  }
}

/** Does the same as {@link writeFullySync}, asynchronously. */
export async function writeFully(fd: number, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const left = bytes.length - written;
    written += (await writeOnce(fd, bytes, written, left, position + written)).bytesWritten;
  }
}
