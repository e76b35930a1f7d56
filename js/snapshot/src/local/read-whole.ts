/** Checks that a file is as long as it was: bytes that a truncated file lacks must never count as zeros. */
import { fstatSync } from "node:fs";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import { reading } from "./open-file.js";
import { readFully, readFullySync } from "./read-fully.js";
import { wrapSystemErrorsSync } from "./system-errors.js";

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
