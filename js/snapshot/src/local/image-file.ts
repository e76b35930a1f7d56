import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";

import { SnapshotError } from "../error.js";
import { dataExtents, type Extent } from "./data-extents.js";
import { openFile, reading } from "./open-file.js";
import type { FileId } from "./other-file.js";

/** What `stat` counts blocks in, in bytes. */
const STAT_BLOCK = 512n;

/** A disk image that is open for reading. */
export class ImageFile {
  private constructor(
    /** What it is called in messages. */
    readonly name: string,
    private readonly handle: FileHandle,
    private readonly found: BigIntStats,
  ) {}

  /** @throws {SnapshotError} `ERR_IMAGE` */
  static open(path: string): Promise<ImageFile> {
    return openFile("ERR_IMAGE", path, async (handle, found) => {
      if (found.size === 0n) await checkEmpty(path, handle);
      return new ImageFile(path, handle, found);
    });
  }

  /** The number that the system knows the open file by, in every thread. */
  get fd(): number {
    return this.handle.fd;
  }

  /** How long it is, in bytes. */
  get size(): number {
    return Number(this.found.size);
  }

  /** Which file it is. */
  get id(): FileId {
    return this.found;
  }

  /** The stretches that may hold data: all of it, where the system cannot tell. */
  async extents(): Promise<readonly Extent[]> {
    const whole = [{ start: 0, end: this.size }];
    if (this.size === 0) return [];
    if (this.found.blocks * STAT_BLOCK >= this.found.size) return whole;
    return (await dataExtents(this.fd, this.size)) ?? whole;
  }

  /**
   * Throws if the file is not what it was when it was opened, by its size and times.
   *
   * @throws {SnapshotError} `ERR_IMAGE_CHANGED`
   */
  async checkUnchanged(): Promise<void> {
    const now = await reading("ERR_IMAGE", this.name, this.handle.stat({ bigint: true }));
    const { size, mtimeNs } = this.found;
    if (now.size === size && now.mtimeNs === mtimeNs) return;
    const was = `${size} bytes of ${timeOf(mtimeNs)}`;
    throw new SnapshotError(
      "ERR_IMAGE_CHANGED",
      `${this.name} changed while it was read: expected ${was}, found ${now.size} of ${timeOf(now.mtimeNs)}`,
    );
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/** Throws if a file has content though it says it has none, as those of `/proc` do. */
async function checkEmpty(path: string, handle: FileHandle): Promise<void> {
  const read = handle.read(Buffer.alloc(1), 0, 1, 0);
  const { bytesRead } = await reading("ERR_IMAGE", path, read);
  if (bytesRead === 0) return;
  throw new SnapshotError("ERR_IMAGE", `${path}: expected a file that knows its size, found 0`);
}

function timeOf(nanoseconds: bigint): string {
  return new Date(Number(nanoseconds / 1_000_000n)).toISOString();
}
