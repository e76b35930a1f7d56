import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import type { FrameStates } from "../decode/frame-states.js";
import { BLOCK_SIZE } from "../format/limits.js";
import { type Libc, SEEK_DATA, SEEK_HOLE } from "../local/libc.js";
import { readFullySync } from "../local/read-fully.js";
import { wrapSystemErrorsSync } from "../local/system-errors.js";
import { writeFullySync } from "../local/write-fully.js";
import type { ImageLayout, ImagePart } from "./image-layout.js";
import type { DiskSets } from "./state-file.js";

/** How long a write waits before it looks again at a frame that a thread is writing, in milliseconds. */
const POLL_INTERVAL = 1;

/** The most zeros that are written at once, in bytes. */
const ZEROS = Buffer.alloc(2 ** 20);

/** The image of a base, in a cache. */
export interface BaseImage {
  readonly fd: number;
  readonly name: string;
  /** Whether it holds the data of a frame, by the number of the frame. */
  readonly frames: Uint8Array;
}

/** What a disk image consists of. */
export interface DiskImageParts {
  /** The path of the image, for messages. */
  readonly name: string;
  readonly file: FileHandle;
  readonly layout: ImageLayout;
  readonly states: FrameStates;
  readonly sets: DiskSets;
  readonly base: BaseImage | undefined;
  readonly libc: Libc;
}

/**
 * The local image of a disk, in which a block is what was written to it, or else the data of its frame once that is
 * done. All data moves synchronously, so that calls never see each other's halves.
 */
export class DiskImage {
  readonly #parts: DiskImageParts;

  constructor(parts: DiskImageParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#parts.layout.size;
  }

  /** Returns the frames without which [start, end) cannot be read. */
  missingFrames(start: number, end: number): number[] {
    const { layout, states, base, sets } = this.#parts;
    if (layout.everyFrame(start, end, (frame) => states.isDone(frame))) return [];
    const missing = new Set<number>();
    for (const part of layout.parts(start, end)) {
      const { frame } = part;
      if (frame === undefined || states.isDone(frame) || base?.frames[frame] === 1) continue;
      const isWritten = sets.written.hasAll(
        Math.floor(part.start / BLOCK_SIZE),
        Math.ceil(part.end / BLOCK_SIZE),
      );
      if (!isWritten) missing.add(frame);
    }
    return [...missing];
  }

  /** Fills `target`. No frame of it may be missing. @throws {SnapshotError} `ERR_TARGET`, `ERR_CACHE` */
  read(offset: number, target: Uint8Array): void {
    const { base, layout, states, name, file, sets } = this.#parts;
    const end = offset + target.length;
    wrapSystemErrorsSync("ERR_TARGET", `cannot read ${name}`, () =>
      readOrZero(file.fd, target, offset),
    );
    if (base === undefined || layout.everyFrame(offset, end, (frame) => states.isDone(frame)))
      return;
    for (const part of layout.parts(offset, end)) {
      const { frame } = part;
      if (frame === undefined || states.isDone(frame) || base.frames[frame] !== 1) continue;
      for (const gap of sets.written.gaps(part.start, part.end)) {
        const bytes = target.subarray(gap.start - offset, gap.end - offset);
        wrapSystemErrorsSync("ERR_CACHE", `cannot read ${base.name}`, () =>
          readOrZero(base.fd, bytes, gap.start),
        );
      }
    }
  }

  /** Returns the ranges of blocks that [start, end) covers only partly, of which the rest has to be read first. */
  partialBlocks(start: number, end: number): { start: number; end: number }[] {
    const blocks = new Set<number>();
    if (start % BLOCK_SIZE !== 0) blocks.add(Math.floor(start / BLOCK_SIZE));
    if (end % BLOCK_SIZE !== 0 && end < this.size) blocks.add(Math.floor(end / BLOCK_SIZE));
    return [...blocks].map((block) => {
      return { start: block * BLOCK_SIZE, end: Math.min((block + 1) * BLOCK_SIZE, this.size) };
    });
  }

  /** Writes bytes. No frame of the blocks that it covers only partly may be missing. @throws {SnapshotError} `ERR_TARGET` */
  async write(offset: number, bytes: Uint8Array): Promise<void> {
    const { file, name } = this.#parts;
    const end = offset + bytes.length;
    await this.#change(offset, end, () =>
      wrapSystemErrorsSync("ERR_TARGET", `cannot write ${name}`, () => {
        this.#copyUp(offset, end);
        writeFullySync(file.fd, bytes, offset);
      }),
    );
  }

  /** Turns whole blocks to zeros, as a hole if that is allowed and possible. @throws {SnapshotError} `ERR_TARGET` */
  async clear(start: number, end: number, mayPunch: boolean): Promise<void> {
    const { file, libc, name } = this.#parts;
    if (mayPunch && this.#isHole(start, end)) return;
    await this.#change(start, end, () =>
      wrapSystemErrorsSync("ERR_TARGET", `cannot write ${name}`, () => {
        if (mayPunch && libc.punchHoleSync(file.fd, start, end - start) === 0) return;
        for (let at = start; at < end; at += ZEROS.length)
          writeFullySync(file.fd, ZEROS.subarray(0, Math.min(ZEROS.length, end - at)), at);
      }),
    );
  }

  /** Returns the status of a part of the image from `start` on, and where it ends. */
  statusAt(
    start: number,
    { frame, end }: ImagePart,
  ): { end: number; isHole: boolean; isMissing: boolean } {
    const { states, base, sets } = this.#parts;
    if (frame === undefined || states.isDone(frame)) {
      return { ...this.#extentAt(start, end), isMissing: false };
    }
    const [run] = sets.written.runs(start, end);
    if (run?.start === start) return { ...this.#extentAt(start, run.end), isMissing: false };
    return { end: run?.start ?? end, isHole: false, isMissing: base?.frames[frame] !== 1 };
  }

  /** Returns the end of the part from `start` on that is a hole in the file, or data, and which of them it is. */
  #extentAt(start: number, end: number): { end: number; isHole: boolean } {
    const { file, libc } = this.#parts;
    const data = libc.lseek(file.fd, start, SEEK_DATA);
    // If it fails, only a hole follows.
    if (data < 0) return { end, isHole: true };
    if (data > start) return { end: Math.min(data, end), isHole: true };
    const hole = libc.lseek(file.fd, start, SEEK_HOLE);
    return { end: hole > start ? Math.min(hole, end) : end, isHole: false };
  }

  /** Returns whether a range is zeros already, without any data in the file that would have to be removed. */
  #isHole(start: number, end: number): boolean {
    const { layout, states } = this.#parts;
    if (!layout.everyFrame(start, end, (frame) => states.isDone(frame))) return false;
    const extent = this.#extentAt(start, end);
    return extent.isHole && extent.end === end;
  }

  /** Copies the rest of the blocks that a write covers only partly from the base. */
  #copyUp(start: number, end: number): void {
    const { base, file } = this.#parts;
    if (base === undefined) return;
    for (const block of this.partialBlocks(start, end)) {
      const bytes = Buffer.alloc(block.end - block.start);
      this.read(block.start, bytes);
      writeFullySync(file.fd, bytes, block.start);
    }
  }

  /** Changes blocks while nobody else writes their frames, and remembers that they were written. */
  async #change(start: number, end: number, change: () => void): Promise<void> {
    const { layout, states, sets } = this.#parts;
    const [first, last] = [Math.floor(start / BLOCK_SIZE), Math.ceil(end / BLOCK_SIZE)];
    let held: number[] | undefined;
    for (;;) {
      held = this.#hold(first * BLOCK_SIZE, Math.min(last * BLOCK_SIZE, layout.size));
      if (held !== undefined) break;
      await sleep(POLL_INTERVAL);
    }
    try {
      change();
      sets.written.add(first, last);
      sets.changed.add(first, last);
    } catch (error) {
      this.#clearUnwritten(start, end);
      throw error;
    } finally {
      for (const frame of held) states.release(frame);
    }
  }

  /** Clears what a failed write has left in blocks whose frames are missing: these do not write their zeros. */
  #clearUnwritten(start: number, end: number): void {
    const { layout, states, sets, file, libc } = this.#parts;
    for (const part of layout.parts(start, end)) {
      if (part.frame === undefined || states.isDone(part.frame)) continue;
      for (const gap of sets.written.gaps(part.start, part.end))
        libc.punchHoleSync(file.fd, gap.start, gap.end - gap.start);
    }
  }

  /** Holds the missing frames of a range. Returns undefined, and holds none, if one of them is being written. */
  #hold(start: number, end: number): number[] | undefined {
    const { layout, states } = this.#parts;
    const held: number[] = [];
    const isFree = layout.everyFrame(start, end, (frame) => {
      if (states.isDone(frame)) return true;
      if (held.includes(frame)) return true;
      if (!states.hold(frame)) return states.isDone(frame);
      held.push(frame);
      return true;
    });
    if (isFree) return held;
    for (const frame of held) states.release(frame);
    return undefined;
  }
}

/** Fills `target`, with zeros beyond the end of the file. */
function readOrZero(fd: number, target: Uint8Array, offset: number): void {
  target.fill(0, readFullySync(fd, target, offset));
}
