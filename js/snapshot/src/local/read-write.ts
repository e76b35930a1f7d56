/**
 * Reads and writes at positions of open files, repeated until all bytes are there. Bytes that a truncated file lacks must
 * never count as zeros.
 */
import { fstatSync, read, readSync, write, writeSync } from "node:fs";
import { promisify } from "node:util";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import { reading } from "./open-file.js";
import { wrapSystemErrorsSync } from "./system-errors.js";

const readOnce = promisify(read);
const writeOnce = promisify(write);

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

/** A file that is open for reading. */
export interface NamedFile {
  readonly fd: number;
  /** The name of the file in messages. */
  readonly name: string;
}

/**
 * Fills `bytes` from a file, beginning at `position`.
 *
 * @param truncated the code of the error if the file ends before. Default: `code`
 * @throws {SnapshotError} `code`, `truncated`
 */
export function readWholeSync(
  code: SnapshotErrorCode,
  { fd, name }: NamedFile,
  bytes: Uint8Array,
  position: number,
  truncated = code,
): void {
  const count = wrapSystemErrorsSync(code, `cannot read ${name}`, () =>
    readFullySync(fd, bytes, position),
  );
  if (count < bytes.length) throw truncatedError(truncated, name, position + count);
}

/** Does the same as {@link readWholeSync}, asynchronously. */
export async function readWhole(
  code: SnapshotErrorCode,
  { fd, name }: NamedFile,
  bytes: Uint8Array,
  position: number,
  truncated = code,
): Promise<void> {
  const count = await reading(code, name, readFully(fd, bytes, position));
  if (count < bytes.length) throw truncatedError(truncated, name, position + count);
}

/**
 * Throws if a file ends before `end`. Check this before a write that must not extend the file: the gap would read as
 * zeros.
 *
 * @throws {SnapshotError} `code`
 */
export function checkLengthSync(
  code: SnapshotErrorCode,
  { fd, name }: NamedFile,
  end: number,
): void {
  const { size } = wrapSystemErrorsSync(code, `cannot read ${name}`, () => fstatSync(fd));
  if (size < end) throw truncatedError(code, name, size);
}

function truncatedError(code: SnapshotErrorCode, name: string, end: number): SnapshotError {
  return new SnapshotError(code, `${name} was truncated: it now ends at byte ${end}`);
}

/** The size of the smallest pages of memory, in bytes. */
const PAGE = 4096;

/** Receives the result of the reads, so that the compiler cannot remove them. */
const taken = new Uint8Array(1);

/**
 * Reads a byte of each page of a buffer, so that all of them are in memory. From Linux 6.14 on, a write copies the
 * resident pages, and checks for a kill before it loads others: a kill could then leave a part of a block.
 */
export function touchPages(bytes: Uint8Array): void {
  let sum = bytes.at(-1) ?? 0;
  for (let at = 0; at < bytes.length; at += PAGE) sum ^= bytes[at] as number;
  taken[0] = sum;
}
