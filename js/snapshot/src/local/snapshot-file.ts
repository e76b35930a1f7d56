import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";

import { SnapshotError } from "../error.js";
import { openFile, reading } from "./open-file.js";
import type { FileId } from "./same-file.js";

/** A local snapshot that is open for reading. */
export class SnapshotFile {
  private constructor(
    /** Name of the snapshot in messages. */
    readonly name: string,
    /** Identity of the file. */
    readonly id: FileId,
    /** Size in bytes. */
    readonly size: number,
    private readonly handle: FileHandle,
  ) {}

  /** Opens a snapshot. @param name its name in messages. Default: its path @throws {SnapshotError} `ERR_SOURCE` */
  static open(path: string, name = path): Promise<SnapshotFile> {
    const use = (handle: FileHandle, found: BigIntStats) =>
      new SnapshotFile(name, found, Number(found.size), handle);
    return openFile("ERR_SOURCE", path, use, name);
  }

  /** Wraps a file that is already open. @throws {SnapshotError} `ERR_SOURCE` */
  static async of(name: string, handle: FileHandle): Promise<SnapshotFile> {
    const found = await reading("ERR_SOURCE", name, handle.stat({ bigint: true }));
    return new SnapshotFile(name, found, Number(found.size), handle);
  }

  /** File descriptor, valid in every thread. */
  get fd(): number {
    return this.handle.fd;
  }

  /**
   * Reads `length` bytes at `position`.
   *
   * @throws {SnapshotError} `ERR_SOURCE`
   */
  async read(position: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    for (let filled = 0; filled < length; ) {
      const at = position + filled;
      const read = this.handle.read(bytes, filled, length - filled, at);
      const { bytesRead } = await reading("ERR_SOURCE", this.name, read);
      if (bytesRead === 0) {
        const message = `${this.name} was truncated while it was read: expected ${this.size} bytes, found its end at byte ${at}`;
        throw new SnapshotError("ERR_SOURCE", message);
      }
      filled += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}
