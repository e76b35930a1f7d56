import type { FileHandle } from "node:fs/promises";

import { wrapWriteErrors } from "./atomic-write.js";

/**
 * Makes the data of an open file durable. If that fails once, every later call fails, too: the system reports the failure
 * once, and may have dropped the data.
 */
export class FileSync {
  #failed: { readonly error: unknown } | undefined;

  /** @param path the path of the file, for messages */
  constructor(
    private readonly path: string,
    private readonly file: FileHandle,
  ) {}

  /** Calls `fdatasync`, or `fsync`. @throws {SnapshotError} `ERR_TARGET` */
  async run(how: "datasync" | "sync" = "datasync"): Promise<void> {
    this.throwIfFailed();
    try {
      await wrapWriteErrors(this.path, this.file[how]());
    } catch (error) {
      this.#failed = { error };
      throw error;
    }
  }

  /** @throws {SnapshotError} `ERR_TARGET` if an earlier call of {@link run} has failed */
  throwIfFailed(): void {
    if (this.#failed !== undefined) throw this.#failed.error;
  }
}
