/**
 * The file beside the image of a disk that says which frames of the snapshot are in the image, and which blocks were
 * written. docs/disk.md describes it.
 */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

import { SnapshotError } from "../error.js";
import type { BlockSet } from "../format/block-set.js";
import { wrapWriteErrors } from "../local/atomic-write.js";

/** The first bytes of each header: the kind and version of the file. */
const MAGIC = "hedgerow disk 1\n";

/** The unit in which the file is written, in bytes. */
const PAGE = 4096;

/** The maximum length of a header, in bytes: disks write as many at once or not at all. */
const HEADER_LENGTH = 512;

const CHECKSUM_LENGTH = 32;

/** The header of a disk. */
export interface DiskHeader {
  /** The number of times that the header was written. The latest one counts. */
  readonly epoch: number;
  /** The identity of the snapshot that the disk is filled from. */
  readonly digest: string;
  /** The identity of the snapshot that the changed blocks are relative to: that of the last save. */
  readonly base: string;
  readonly imageSize: number;
  readonly frameCount: number;
}

/** The sets of a disk that its state file keeps. */
export interface DiskSets {
  /** One bit for each frame that is in the image. */
  readonly frames: Uint8Array;
  /** The blocks that were written since the disk was opened for the first time. */
  readonly written: BlockSet;
  /** The blocks that were written since the last save. */
  changed: BlockSet;
}

/** The state file of a disk. Bits of its sets are only added, so that a torn page is a valid one. */
export class StateFile {
  readonly #path: string;
  readonly #file: FileHandle;
  #header: DiskHeader | undefined;
  /** What the file holds of the sets. */
  #stored = Buffer.alloc(0);

  /** @param path the path of the image, for messages */
  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  get header(): DiskHeader | undefined {
    return this.#header;
  }

  /** Reads the header. Returns undefined if the file is new. @throws {SnapshotError} `ERR_TARGET` */
  async readHeader(): Promise<DiskHeader | undefined> {
    const found = Buffer.alloc(2 * PAGE);
    const { bytesRead } = await this.#wrap(this.#file.read(found, 0, found.length, 0));
    const headers = [0, PAGE].flatMap((at) => {
      const header = parseHeader(found.subarray(0, bytesRead).subarray(at, at + HEADER_LENGTH));
      return header === undefined ? [] : [header];
    });
    this.#header = headers.sort((a, b) => b.epoch - a.epoch)[0];
    // A disk that was being made has zeros. Anything else may describe an image that holds writes.
    if (this.#header === undefined && found.some((byte) => byte !== 0)) {
      const message = `${this.#path}: expected the state of a disk of version 1, found a damaged or newer one`;
      throw new SnapshotError("ERR_TARGET", message);
    }
    return this.#header;
  }

  /** Starts a new disk, all of whose sets are empty. @throws {SnapshotError} `ERR_TARGET` */
  async create(header: Omit<DiskHeader, "epoch">): Promise<void> {
    await this.#wrap(this.#file.truncate(0));
    await this.#wrap(this.#file.truncate(layoutOf(header).end));
    this.#stored = Buffer.alloc(layoutOf(header).end - 2 * PAGE);
    await this.#wrap(this.#file.sync());
    await this.#writeHeader({ ...header, epoch: 1 });
  }

  /** Reads the sets into `sets`. @throws {SnapshotError} `ERR_TARGET` */
  async load(sets: DiskSets): Promise<void> {
    const header = this.#known;
    const { frames, written, changed, end } = layoutOf(header);
    const found = Buffer.alloc(end - 2 * PAGE);
    const { bytesRead } = await this.#wrap(this.#file.read(found, 0, found.length, 2 * PAGE));
    if (bytesRead < found.length) {
      const message = `${this.#path}: expected a state file of ${end} bytes, found ${bytesRead + 2 * PAGE}`;
      throw new SnapshotError("ERR_TARGET", message);
    }
    const at = (start: number, length: number) =>
      found.subarray(start - 2 * PAGE, start - 2 * PAGE + length);
    sets.frames.set(at(frames, sets.frames.length));
    sets.written.bytes.set(at(written, sets.written.bytes.length));
    const current = changed[header.epoch % 2] as number;
    sets.changed.bytes.set(at(current, sets.changed.bytes.length));
    this.#stored = found;
  }

  /**
   * Writes the bits that were added. What they vouch for must be durable. Returns whether there were blocks among them.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  async add({ frames, written, changed }: DiskSets): Promise<boolean> {
    const header = this.#known;
    const layout = layoutOf(header);
    await this.#write(layout.frames, frames);
    const hasWritten = await this.#write(layout.written, written.bytes);
    const current = layout.changed[header.epoch % 2] as number;
    return (await this.#write(current, changed.bytes)) || hasWritten;
  }

  /**
   * Replaces the changed blocks: from now on, they are relative to `base`.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  async rebase(base: string, changed: BlockSet): Promise<void> {
    const header = this.#known;
    const next = { ...header, base, epoch: header.epoch + 1 };
    await this.#write(layoutOf(header).changed[next.epoch % 2] as number, changed.bytes);
    await this.#wrap(this.#file.datasync());
    await this.#writeHeader(next);
  }

  /** Makes durable what was written. @throws {SnapshotError} `ERR_TARGET` */
  async sync(): Promise<void> {
    await this.#wrap(this.#file.datasync());
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  get #known(): DiskHeader {
    if (this.#header === undefined) throw new Error("the header has not been read");
    return this.#header;
  }

  /** Writes the pages of a set that have changed. Returns whether there are any. */
  async #write(start: number, bytes: Uint8Array): Promise<boolean> {
    let hasChanged = false;
    for (let at = 0; at < bytes.length; at += PAGE) {
      const page = Buffer.from(bytes.slice(at, at + PAGE));
      const stored = this.#stored.subarray(
        start - 2 * PAGE + at,
        start - 2 * PAGE + at + page.length,
      );
      if (page.equals(stored)) continue;
      await this.#wrap(this.#file.write(page, 0, page.length, start + at));
      page.copy(stored);
      hasChanged = true;
    }
    return hasChanged;
  }

  async #writeHeader(header: DiskHeader): Promise<void> {
    const body = Buffer.alloc(HEADER_LENGTH - CHECKSUM_LENGTH);
    body.write(`${MAGIC}${JSON.stringify(header)}\n`, "latin1");
    const bytes = Buffer.concat([body, createHash("sha256").update(body).digest()]);
    await this.#wrap(this.#file.write(bytes, 0, bytes.length, (header.epoch % 2) * PAGE));
    await this.#wrap(this.#file.datasync());
    this.#header = header;
  }

  #wrap<T>(result: Promise<T>): Promise<T> {
    return wrapWriteErrors(this.#path, result);
  }
}

/** Returns the offsets of the sets in the file, and its length. There are two places for the changed blocks. */
function layoutOf({ imageSize, frameCount }: Pick<DiskHeader, "imageSize" | "frameCount">) {
  const pages = (bits: number) => Math.ceil(bits / 8 / PAGE) * PAGE;
  const blocks = pages(Math.ceil(imageSize / 4096));
  const frames = 2 * PAGE;
  const written = frames + pages(frameCount);
  const changed = [written + blocks, written + 2 * blocks] as const;
  return { frames, written, changed, end: changed[1] + blocks };
}

/** Returns a header, if it is a valid one. */
function parseHeader(bytes: Buffer): DiskHeader | undefined {
  if (bytes.length < HEADER_LENGTH) return undefined;
  const body = bytes.subarray(0, -CHECKSUM_LENGTH);
  const checksum = createHash("sha256").update(body).digest();
  if (!checksum.equals(bytes.subarray(-CHECKSUM_LENGTH))) return undefined;
  const text = body.toString("latin1");
  if (!text.startsWith(MAGIC)) return undefined;
  return JSON.parse(text.slice(MAGIC.length, text.indexOf("\n", MAGIC.length))) as DiskHeader;
}
