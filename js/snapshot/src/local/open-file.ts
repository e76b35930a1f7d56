import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import { kindOf } from "./file-kind.js";
import { wrapSystemErrors } from "./system-errors.js";

/** Windows does not have `O_NONBLOCK` and does not need it. */
const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/**
 * Opens a regular file for reading and passes it to `use`, whose result must close it. Anything else is
 * rejected; a pipe without waiting for a writer.
 *
 * @param name the name of the file in messages. Default: its path
 * @throws {SnapshotError} `code`
 */
export async function openFile<T>(
  code: SnapshotErrorCode,
  path: string,
  use: (handle: FileHandle, found: BigIntStats) => T | Promise<T>,
  name = path,
): Promise<T> {
  const handle = await reading(code, name, open(path, O_RDONLY | O_NONBLOCK));
  try {
    const found = await reading(code, name, handle.stat({ bigint: true }));
    if (!found.isFile()) {
      const kind = kindOf(found);
      const message = `${name}: expected a file, found ${kind}${hintOf(kind, name)}`;
      throw new SnapshotError(code, message);
    }
    return await use(handle, found);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function hintOf(kind: string, name: string): string {
  if (kind === "a pipe") return "; write it to a file first";
  if (kind !== "a device") return "";
  return `; copy it to a file: dd if=${name} of=FILE bs=4M conv=sparse`;
}

/** Returns the result of reading a file. Errors of the system become a `SnapshotError` with `code`. */
export function reading<T>(code: SnapshotErrorCode, name: string, result: Promise<T>): Promise<T> {
  return wrapSystemErrors(code, `cannot read ${name}`, result);
}
