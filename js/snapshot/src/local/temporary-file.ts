import { randomUUID } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PRIVATE, writing } from "./whole-file.js";

/** A file of the system's temporary folder, while it is used. */
export interface TemporaryFile {
  /** What it is called in messages. */
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * Has `use` work with an empty file, which then goes. It loses its name at once, so that nothing is left
 * even if the process is killed; `TMPDIR` says where there is room for it.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function withTemporaryFile<T>(use: (file: TemporaryFile) => Promise<T>): Promise<T> {
  const path = join(tmpdir(), `.hedgerow-${randomUUID()}.tmp`);
  const handle = await writing(path, open(path, "wx+", PRIVATE));
  try {
    await writing(path, rm(path));
    return await use({ path, handle });
  } finally {
    await handle.close();
    // Where it could not go while it was open.
    await rm(path, { force: true }).catch(() => {});
  }
}
