/**
 * The file beside the image of a disk that says which frames of the snapshot are in the image, and which blocks were
 * written. docs/disk.md describes it.
 */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { constants } from "node:os";

import { SnapshotError } from "../error.js";
import { BlockSet } from "../format/block-set.js";
import { lengthOf } from "../format/byte-ranges.js";
import { BLOCK_SIZE } from "../format/limits.js";
import { FileSync } from "../local/atomic-write.js";
import { libc } from "../local/libc.js";
import { readFully, writeFully, writeFullySync } from "../local/read-write.js";
import { wrapSystemErrorsSync, wrapWriteErrors } from "../local/system-errors.js";

/** The first bytes of the header: the kind and version of the file. */
const MAGIC = "hedgerow disk 1\n";

/** The unit in which the file is written, in bytes. */
const PAGE = 4096;

/** The length of the header, in bytes: disks write as many at once or not at all. */
const HEADER_LENGTH = 512;

const CHECKSUM_LENGTH = 32;

/** The header of a disk. */
export interface DiskHeader {
  /** The identity of the snapshot that the disk is filled from. */
  readonly digest: string;
  readonly imageSize: number;
  readonly frameCount: number;
  /** The boot of the system in which the disk was written to, if it has not been closed since; or empty. */
  readonly writtenIn: string;
}

/** The sets of a disk that its state file keeps. */
export interface DiskSets {
  /** One bit for each frame that is in the image. */
  readonly frames: Uint8Array;
  /** The blocks that were written since the disk was opened for the first time. */
  readonly written: BlockSet;
}

/** The state file of a disk. Bits of its sets are only added, so that a torn page is a valid one. */
export class StateFile {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #sync: FileSync;
  #header: DiskHeader | undefined;
  /** The bits of the sets that the file holds. */
  #stored = Buffer.alloc(0);
  /** Whether its header or blocks that were written are not durable. */
  #isDirty = false;
  /** Whether it has no header yet. */
  #isNew = false;

  /** @param path the path of the image, for messages */
  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
    this.#sync = new FileSync(path, file);
  }

  get header(): DiskHeader | undefined {
    return this.#header;
  }

  /** Reads the header. Returns undefined if the file is new. @throws {SnapshotError} `ERR_TARGET` */
  async readHeader(): Promise<DiskHeader | undefined> {
    const found = Buffer.alloc(HEADER_LENGTH);
    await this.#wrap(this.#file.read(found, 0, found.length, 0));
    this.#header = parseHeader(found);
    // A disk that was being made has zeros. Anything else may describe an image that holds writes.
    if (this.#header === undefined && found.some((byte) => byte !== 0)) {
      const message = `${this.#path}: expected the state of a disk of version 1, found a damaged or newer one`;
      throw new SnapshotError("ERR_TARGET", message);
    }
    return this.#header;
  }

  /** Forgets what the file holds. @throws {SnapshotError} `ERR_TARGET` */
  async clear(): Promise<void> {
    if ((await this.#wrap(this.#file.stat())).size === 0) return;
    await this.#wrap(this.#file.truncate(0));
    await this.#sync.run("sync");
  }

  /** Starts a new disk, all of whose sets are empty. The header follows with them. @throws {SnapshotError} `ERR_TARGET` */
  async create(header: Omit<DiskHeader, "writtenIn">): Promise<void> {
    const { end } = layoutOf(header);
    await this.#wrap(this.#file.truncate(end));
    // So that writes can be recorded even when the file system is full.
    const allocated = (await (await libc())?.allocate(this.#file.fd, end)) ?? 0;
    if (allocated === -constants.errno.ENOSPC) {
      const message = `cannot write ${this.#path}: no space for a state file of ${end} bytes`;
      throw new SnapshotError("ERR_TARGET", message);
    }
    this.#stored = Buffer.alloc(end - PAGE);
    this.#header = { ...header, writtenIn: "" };
    this.#isNew = true;
  }

  /**
   * Reads the sets into `sets`.
   *
   * @param withNoted whether to add the blocks that were noted before they were written
   * @throws {SnapshotError} `ERR_TARGET`
   */
  async load(sets: DiskSets, withNoted: boolean): Promise<void> {
    const { frames, written, noted, end } = layoutOf(this.#known);
    const found = Buffer.alloc(end - PAGE);
    const count = await this.#wrap(readFully(this.#file.fd, found, PAGE));
    if (count < found.length) {
      const message = `${this.#path}: expected a state file of ${end} bytes, found ${count + PAGE}`;
      throw new SnapshotError("ERR_TARGET", message);
    }
    this.#stored = found;
    const bits = (start: number, { length }: Uint8Array) =>
      found.subarray(start - PAGE, start - PAGE + length);
    sets.frames.set(bits(frames, sets.frames));
    sets.written.bytes.set(bits(written, sets.written.bytes));
    if (withNoted) sets.written.addBits(bits(noted, sets.written.bytes));
  }

  /** Returns the number of bytes in blocks that may have been written. @throws {SnapshotError} `ERR_TARGET` */
  async writtenBytes(): Promise<number> {
    const header = await this.readHeader();
    if (header === undefined) return 0;
    const written = BlockSet.of(header.imageSize);
    await this.load({ frames: new Uint8Array(Math.ceil(header.frameCount / 8)), written }, true);
    return lengthOf([...written.runs(0, header.imageSize)]);
  }

  /**
   * Forgets which frames are in the image, and which blocks were noted before they were written.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  async forgetUnsynced(): Promise<void> {
    const { frames, written, noted, end } = layoutOf(this.#known);
    for (const [from, to] of [
      [frames, written],
      [noted, end],
    ] as const) {
      const bytes = this.#stored.subarray(from - PAGE, to - PAGE).fill(0);
      await this.#wrap(writeFully(this.#file.fd, bytes, from));
    }
    await this.#sync.run();
  }

  /** Notes in which boot of the system the disk is being written to; none when it is closed. @throws {SnapshotError} `ERR_TARGET` */
  async setWrittenIn(writtenIn: string): Promise<void> {
    if (this.#known.writtenIn === writtenIn) return this.#sync.throwIfFailed();
    await this.#writeHeader({ ...this.#known, writtenIn });
    await this.#sync.run();
  }

  /** Notes at once that the blocks [first, end) of a set are being written. @throws {SnapshotError} `ERR_TARGET` */
  note(written: BlockSet, first: number, end: number): void {
    const [from, to] = [first >>> 3, ((end - 1) >>> 3) + 1];
    this.#add(layoutOf(this.#known).noted + from, written.bytes.subarray(from, to));
  }

  /**
   * Adds sets, and makes the header and the written blocks durable. The data that they describe must already be durable.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  async add({ frames, written }: DiskSets): Promise<void> {
    if (this.#isNew) {
      await this.#writeHeader(this.#known);
      this.#isDirty = true;
    }
    const layout = layoutOf(this.#known);
    if (this.#add(layout.written, written.bytes)) this.#isDirty = true;
    // If the process is killed in between, the frames are missing, and the blocks that were written count.
    this.#add(layout.frames, frames);
    if (!this.#isDirty) return;
    await this.#sync.run();
    this.#isDirty = false;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  get #known(): DiskHeader {
    if (this.#header === undefined) throw new Error("the header has not been read");
    return this.#header;
  }

  /** Adds the bits of a part of the file. Returns whether there were any. */
  #add(start: number, bytes: Uint8Array): boolean {
    let hasChanged = false;
    for (let at = 0; at < bytes.length; at += PAGE) {
      const added = bytes.subarray(at, at + PAGE);
      const stored = this.#stored.subarray(start - PAGE + at, start - PAGE + at + added.length);
      if (stored.equals(added)) continue;
      const sum = added.map((byte, index) => byte | (stored[index] as number));
      wrapSystemErrorsSync("ERR_TARGET", `cannot write ${this.#path}`, () =>
        writeFullySync(this.#file.fd, sum, start + at),
      );
      stored.set(sum);
      hasChanged = true;
    }
    return hasChanged;
  }

  async #writeHeader(header: DiskHeader): Promise<void> {
    // A file that has a header must have its length, too.
    if (this.#isNew) await this.#sync.run();
    const body = Buffer.alloc(HEADER_LENGTH - CHECKSUM_LENGTH);
    body.write(`${MAGIC}${JSON.stringify(header)}\n`, "latin1");
    const bytes = Buffer.concat([body, createHash("sha256").update(body).digest()]);
    const { bytesWritten } = await this.#wrap(this.#file.write(bytes, 0, bytes.length, 0));
    if (bytesWritten < bytes.length) {
      const message = `cannot write ${this.#path}: expected to write ${bytes.length} bytes, wrote ${bytesWritten}`;
      throw new SnapshotError("ERR_TARGET", message);
    }
    this.#header = header;
    // If it could not be written, the next sync writes it.
    this.#isNew = false;
  }

  #wrap<T>(result: Promise<T>): Promise<T> {
    return wrapWriteErrors(this.#path, result);
  }
}

/** Returns the offsets of the sets in the file, and its length. */
function layoutOf({ imageSize, frameCount }: Pick<DiskHeader, "imageSize" | "frameCount">) {
  const pages = (bits: number) => Math.ceil(bits / 8 / PAGE) * PAGE;
  const written = PAGE + pages(frameCount);
  const length = pages(Math.ceil(imageSize / BLOCK_SIZE));
  return { frames: PAGE, written, noted: written + length, end: written + 2 * length };
}

/** Returns a header, if it is a valid one. */
function parseHeader(bytes: Buffer): DiskHeader | undefined {
  const body = bytes.subarray(0, -CHECKSUM_LENGTH);
  const checksum = createHash("sha256").update(body).digest();
  if (!checksum.equals(bytes.subarray(-CHECKSUM_LENGTH))) return undefined;
  const text = body.toString("latin1");
  if (!text.startsWith(MAGIC)) return undefined;
  return JSON.parse(text.slice(MAGIC.length, text.indexOf("\n", MAGIC.length))) as DiskHeader;
}
