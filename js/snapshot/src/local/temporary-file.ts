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
  const path = join(folder, `.hedgerow-${randomUUID()}.tmp`);
  const what = `cannot make a temporary file in ${folder}${folder === tmpdir() ? ", as TMPDIR says" : ""}`;
  const handle = await wrapSystemErrors("ERR_TARGET", what, open(path, "wx+", PRIVATE_MODE));
  try {
    await wrapWriteErrors(path, rm(path));
    return await use({ path, handle });
  } finally {
    await handle.close();
    // On systems that do not unlink open files.
    await rm(path, { force: true }).catch(() => {});
  }
}
