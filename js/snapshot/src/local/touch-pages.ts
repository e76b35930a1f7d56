/** The size of the smallest pages of memory, in bytes. */
const PAGE = 4096;

/** Receives the result of the reads, so that the compiler cannot remove them. */
const taken = new Uint8Array(1);

/**
 * Reads a byte of each page of a buffer, so that all of them are in memory. From Linux 6.14 on, a write copies the pages
 * that are, and looks whether the process was killed before it brings in others: a file may then have a part of a
 * block.
 */
export function touchPages(bytes: Uint8Array): void {
  let sum = bytes.at(-1) ?? 0;
  for (let at = 0; at < bytes.length; at += PAGE) sum ^= bytes[at] as number;
  taken[0] = sum;
}
