import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";

import { SnapshotError } from "../error.js";
import type { ByteRange } from "../format/byte-ranges.js";
import { END_LENGTH, fileTypeOf, START_LENGTH } from "../format/file-type.js";
import { dataExtents } from "./extents.js";
import { type FileId, openFile, reading } from "./open-file.js";
import { readFully } from "./read-write.js";

/** Unit of `blocks` in the result of `stat`, in bytes. */
const STAT_BLOCK = 512n;

/** A disk image that is open for reading. */
export class ImageFile {
  private constructor(
    /** Name of the image in messages. */
    readonly name: string,
    private readonly handle: FileHandle,
    private readonly found: BigIntStats,
    /** Size in bytes. */
    readonly size = Number(found.size),
  ) {}

  /** @throws {SnapshotError} `ERR_IMAGE` */
  static open(path: string): Promise<ImageFile> {
    return openFile("ERR_IMAGE", path, async (handle, found) => {
      if (found.size === 0n) await checkEmpty(path, handle);
      return new ImageFile(path, handle, found);
    });
  }

  /**
   * Wraps a file that is already open.
   *
   * @param size of the image, if the file is a copy of parts of it
   * @throws {SnapshotError} `ERR_IMAGE`
   */
  static async of(name: string, handle: FileHandle, size?: number): Promise<ImageFile> {
    const found = await reading("ERR_IMAGE", name, handle.stat({ bigint: true }));
    return new ImageFile(name, handle, found, size);
  }

  /** File descriptor, valid in every thread. */
  get fd(): number {
    return this.handle.fd;
  }

  /** ID of the file. */
  get id(): FileId {
    return this.found;
  }

  /** Whether its blocks on the disk have room for all of it: it then has no holes. */
  get isFull(): boolean {
    return this.found.blocks * STAT_BLOCK >= this.found.size;
  }

  /** Returns the extents that may hold data: the whole file if the system cannot tell. */
  async extents(): Promise<readonly ByteRange[]> {
    const whole = [{ start: 0, end: this.size }];
    if (this.size === 0) return [];
    if (this.isFull) return whole;
    return (await dataExtents(this.fd, this.size)) ?? whole;
  }

  /**
   * Throws if the size or the modification time of the file has changed since it was opened.
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
      `${this.name} changed while it was read: it had ${was}, and has ${now.size} of ${timeOf(now.mtimeNs)}; stop what writes to it and try again`,
    );
  }

  /** Throws if the file looks like anything but a raw image. @throws {SnapshotError} `ERR_IMAGE` */
  async checkRaw(): Promise<void> {
    const [start, end] = await Promise.all([
      this.#read(0, START_LENGTH),
      this.#read(Math.max(0, this.size - END_LENGTH), END_LENGTH),
    ]);
    const type = fileTypeOf(start, end);
    if (type?.toRaw === undefined) return;
    const message = `${this.name}: expected a raw disk image, found ${type.name}: ${type.toRaw}; to store the file as it is, pass format: "raw"`;
    throw new SnapshotError("ERR_IMAGE", message);
  }

  /** Returns up to `length` bytes, as far as the file has them. */
  async #read(position: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    const read = readFully(this.fd, bytes, position);
    return bytes.subarray(0, await reading("ERR_IMAGE", this.name, read));
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/** Throws if a file has content although its size is 0, as files in `/proc` do. */
async function checkEmpty(path: string, handle: FileHandle): Promise<void> {
  const read = handle.read(Buffer.alloc(1), 0, 1, 0);
  const { bytesRead } = await reading("ERR_IMAGE", path, read);
  if (bytesRead === 0) return;
  throw new SnapshotError(
    "ERR_IMAGE",
    `${path}: expected a regular file, found one that has content but a size of 0`,
  );
}

function timeOf(nanoseconds: bigint): string {
  return new Date(Number(nanoseconds / 1_000_000n)).toISOString();
}
