import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { Libc } from "../../local/libc.js";
import { flock } from "../../local/locks.js";
import { READ_FLAGS } from "../../local/open-file.js";
import { isUnfit, PRIVATE_MODE } from "../../local/private-file.js";
import { isReadOnlyError, wrapSystemErrorsSync } from "../../local/system-errors.js";

/** The file whose lock protects an image: shared while the image is in use, exclusive while it is evicted. */
export class LeaseFile {
  private constructor(
    private readonly libc: Libc,
    private readonly fd: number,
  ) {}

  /**
   * Opens the file at a path, or creates it. Returns undefined if it is not a regular file, or cannot be created.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  static open(libc: Libc, path: string): LeaseFile | undefined {
    const fd = wrapSystemErrorsSync("ERR_CACHE", `cannot open ${path}`, () => {
      try {
        return openSync(path, READ_FLAGS | constants.O_CREAT, PRIVATE_MODE);
      } catch (error) {
        if (isUnfit(error) || isReadOnlyError(error)) return undefined;
        throw error;
      }
    });
    if (fd === undefined) return undefined;
    if (fstatSync(fd).isFile()) return new LeaseFile(libc, fd);
    closeSync(fd);
    return undefined;
  }

  /** Whether the file still has its name, so that others open the same file. */
  get isInPlace(): boolean {
    return fstatSync(this.fd).nlink > 0;
  }

  /** Returns false if the image is being evicted. */
  lockShared(): boolean {
    return flock(this.libc, this.fd, "shared") && this.isInPlace;
  }

  /** Returns false if the image is in use. */
  lockExclusive(): boolean {
    return flock(this.libc, this.fd, "exclusive");
  }

  close(): void {
    closeSync(this.fd);
  }
}
