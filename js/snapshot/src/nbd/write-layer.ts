import type { FileHandle } from "node:fs/promises";

import { BlockSet } from "../format/block-set.js";
import { BLOCK_SIZE } from "../format/limits.js";
import { Turns } from "../local/locks.js";
import { openTemporaryFile } from "../local/private-file.js";
import { readFullySync, writeFully } from "../local/read-write.js";
import type { Export, StatusExtent } from "./export.js";

/** The maximum number of zeros that are written at once, in bytes. */
const ZEROS_SIZE = 2 ** 20;

/** Accepts writes to an export without changing it: keeps them in a temporary file until its server is closed. */
export class WriteLayer implements Export {
  readonly size: number;
  readonly isReadOnly = false;
  readonly #below: Export;
  readonly #file: FileHandle;
  /** The blocks that are in the file. */
  readonly #written: BlockSet;
  readonly #turns = new Turns();

  private constructor(below: Export, file: FileHandle) {
    this.size = below.size;
    this.#below = below;
    this.#file = file;
    this.#written = BlockSet.of(below.size);
  }

  /** Puts a layer over an export. @param folder the folder of the file. @throws {SnapshotError} `ERR_TARGET` */
  static async over(below: Export, folder: string): Promise<WriteLayer> {
    return new WriteLayer(below, (await openTemporaryFile(folder)).handle);
  }

  readNow(offset: number, target: Uint8Array): boolean {
    if (!this.#below.readNow(offset, target)) return false;
    for (const { start, end } of this.#written.runs(offset, offset + target.length))
      readFullySync(this.#file.fd, target.subarray(start - offset, end - offset), start);
    return true;
  }

  load(offset: number, length: number): Promise<void> {
    return this.#below.load(offset, length);
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    // One at a time: two writes may cover parts of the same block.
    return this.#turns.run(() => this.#write(offset, bytes));
  }

  async writeZeros(offset: number, length: number): Promise<void> {
    const zeros = Buffer.alloc(Math.min(ZEROS_SIZE, length));
    for (let at = 0; at < length; at += ZEROS_SIZE)
      await this.write(offset + at, zeros.subarray(0, length - at));
  }

  async discard(): Promise<void> {}

  async flush(): Promise<void> {}

  prefetch(offset: number, length: number): void {
    this.#below.prefetch(offset, length);
  }

  status(_offset: number, length: number): StatusExtent[] {
    return [{ length, flags: 0 }];
  }

  release(): Promise<void> {
    return this.#file.close();
  }

  /** Writes whole blocks: reads the rest of the first and of the last one. */
  async #write(offset: number, bytes: Uint8Array): Promise<void> {
    const [first, end] = [Math.floor(offset / BLOCK_SIZE), offset + bytes.length];
    const last = Math.ceil(end / BLOCK_SIZE);
    const start = first * BLOCK_SIZE;
    const blocks = Buffer.allocUnsafe(Math.min(last * BLOCK_SIZE, this.size) - start);
    if (start < offset) await this.#read(start, blocks.subarray(0, BLOCK_SIZE));
    if (end < start + blocks.length) {
      const rest = (last - 1) * BLOCK_SIZE;
      await this.#read(rest, blocks.subarray(rest - start));
    }
    blocks.set(bytes, offset - start);
    await writeFully(this.#file.fd, blocks, start);
    this.#written.add(first, last);
  }

  async #read(offset: number, target: Uint8Array): Promise<void> {
    while (!this.readNow(offset, target)) await this.load(offset, target.length);
  }
}
