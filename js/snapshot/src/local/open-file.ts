import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import { withFile } from "./system-failure.js";

/** Windows has no such flag, and needs none. */
const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/**
 * Opens a file for reading, and has `use` make something of it, which closes it. What is no file is
 * refused: a pipe at once, without waiting for who writes to it.
 *
 * @throws {SnapshotError} `code`
 */
export async function openFile<T>(
  code: SnapshotErrorCode,
  path: string,
  use: (handle: FileHandle, found: BigIntStats) => T | Promise<T>,
): Promise<T> {
  const handle = await reading(code, path, open(path, O_RDONLY | O_NONBLOCK));
  try {
    const found = await reading(code, path, handle.stat({ bigint: true }));
    if (!found.isFile()) throw new SnapshotError(code, `${path}: expected a file`);
    return await use(handle, found);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The result of reading a file. What the system refuses is told as `code`. */
export function reading<T>(code: SnapshotErrorCode, name: string, result: Promise<T>): Promise<T> {
  return withFile(code, `cannot read ${name}`, result);
}
