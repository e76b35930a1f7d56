import { randomUUID } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PRIVATE_MODE, wrapWriteErrors } from "./atomic-write.js";
import { wrapSystemErrors } from "./system-errors.js";

/** An open temporary file. */
export interface TemporaryFile {
  /** Name of the file in messages. */
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * Calls `use` with an empty temporary file, and removes the file when the result settles. The file is unlinked as soon
 * as it is open, so that nothing is left behind if the process is killed.
 *
 * @param folder default: `TMPDIR`
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function withTemporaryFile<T>(
  use: (file: TemporaryFile) => Promise<T>,
  folder = tmpdir(),
): Promise<T> {
  const file = await openTemporaryFile(folder);
  try {
    return await use(file);
  } finally {
    await file.handle.close();
    // On systems that do not unlink open files.
    await rm(file.path, { force: true }).catch(() => {});
  }
}

/** Opens an empty temporary file, which is gone when it is closed. @throws {SnapshotError} `ERR_TARGET` */
export async function openTemporaryFile(folder: string): Promise<TemporaryFile> {
  const path = join(folder, `.hedgerow-${randomUUID()}.tmp`);
  const what = `cannot make a temporary file in ${folder}${folder === tmpdir() ? ", as TMPDIR says" : ""}`;
  const handle = await wrapSystemErrors("ERR_TARGET", what, open(path, "wx+", PRIVATE_MODE));
  try {
    await wrapWriteErrors(path, rm(path));
    return { path, handle };
  } catch (error) {
    await handle.close();
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}
