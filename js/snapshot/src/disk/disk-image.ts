import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { FrameState, type FrameStates, type UnheldState } from "../decode/frame-states.js";
import type { BlockSet } from "../format/block-set.js";
import { BLOCK_SIZE } from "../format/limits.js";
import { zeroRangeSync } from "../local/disk-space.js";
import { type Libc, SEEK_DATA, SEEK_END, SEEK_HOLE } from "../local/libc.js";
import { checkLengthSync, readWholeSync, touchPages, writeFullySync } from "../local/read-write.js";
import { wrapSystemErrorsSync } from "../local/system-errors.js";
import type { BaseImage } from "./base-image.js";
import type { DiskFiles } from "./disk-files.js";
import type { ImageLayout, ImagePart } from "./image-layout.js";
import type { UnkeptFrames } from "./unkept-frames.js";

/** How long a write waits before it looks again at a frame that a thread is writing, in milliseconds. */
const POLL_INTERVAL = 1;

/** The most zeros that are written at once, in bytes. */
const ZEROS = Buffer.alloc(2 ** 20);

/**
 * The local image of a disk. A block has the data that was written to it, or else that of its frame. All data moves
 * synchronously, so that no call sees half of another.
 */
export class DiskImage {
  /** Further sets that receive the blocks that are written. */
  readonly #recorders = new Set<BlockSet>();

  /**
   * @param base the image of a base, which has the data of inherited frames
   * @param unkept the frames for which the file system has no room
   */
  constructor(
    readonly files: DiskFiles,
    readonly layout: ImageLayout,
    private readonly states: FrameStates,
    readonly base: BaseImage | undefined,
    private readonly unkept: UnkeptFrames,
    private readonly libc: Libc,
  ) {}

  get size(): number {
    return this.layout.size;
  }

  /** Adds all blocks that are written from now on to a set, until the returned function is called. */
  record(set: BlockSet): () => void {
    this.#recorders.add(set);
    return () => void this.#recorders.delete(set);
  }

  /** Returns the frames that hold parts of a range. */
  frames(start: number, end: number): Set<number> {
    const parts = [...this.layout.parts(start, end)];
    return new Set(parts.flatMap(({ frame }) => (frame === undefined ? [] : [frame])));
  }

  /** Returns whether a range may hold anything but zeros. */
  mayHoldData(start: number, end: number): boolean {
    const { layout, files } = this;
    const isZero = layout.everyFrame(start, end, () => false);
    return !isZero || !files.sets.written.runs(start, end).next().done;
  }

  /** Returns the frames without which [start, end) cannot be read. */
  missingFrames(start: number, end: number): number[] {
    const { unkept } = this;
    return this.#framesNotHere(start, end, (frame) => this.#isKept(frame) || unkept.has(frame));
  }

  /**
   * Throws if a part of [start, end) is in memory only, because the file system has no room. It is then fetched again.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  checkKept(start: number, end: number): void {
    const { unkept } = this;
    const missing = this.#framesNotHere(start, end, (frame) => this.#isKept(frame));
    if (missing.length === 0) return;
    for (const frame of missing) unkept.delete(frame);
    throw unkept.error;
  }

  /** Keeps frames of a range for which the file system has no room in memory, until the returned function is called. */
  await(start: number, end: number): () => void {
    return this.unkept.await(this.neededFrames(start, end));
  }

  #isKept(frame: number): boolean {
    const { states } = this;
    return states.isDone(frame) || states.isInherited(frame);
  }

  #framesNotHere(start: number, end: number, isHere: (frame: number) => boolean): number[] {
    const { layout } = this;
    if (layout.everyFrame(start, end, isHere)) return [];
    return [...this.neededFrames(start, end)].filter((frame) => !isHere(frame));
  }

  /** Returns the frames whose data is still in use in [start, end). */
  neededFrames(start: number, end: number): Set<number> {
    const { layout, files } = this;
    const needed = new Set<number>();
    for (const part of layout.parts(start, end)) {
      const { frame } = part;
      if (frame === undefined || needed.has(frame)) continue;
      const isWritten = files.sets.written.hasAll(
        Math.floor(part.start / BLOCK_SIZE),
        Math.ceil(part.end / BLOCK_SIZE),
      );
      if (!isWritten) needed.add(frame);
    }
    return needed;
  }

  /** Fills `target`. No frame of it may be missing. @throws {SnapshotError} `ERR_TARGET`, `ERR_CACHE` */
  read(offset: number, target: Uint8Array): void {
    const { base, layout, states, unkept, files } = this;
    const end = offset + target.length;
    readWholeSync("ERR_TARGET", { fd: files.file.fd, name: files.name }, target, offset);
    // Whatever their states: another thread may have written such a frame after the image was read.
    for (const part of unkept.isEmpty ? [] : layout.parts(offset, end)) {
      const { frame } = part;
      if (frame === undefined) continue;
      for (const gap of files.sets.written.gaps(part.start, part.end))
        unkept.copy(frame, gap, target.subarray(gap.start - offset));
    }
    if (base === undefined || layout.everyFrame(offset, end, (frame) => states.isDone(frame)))
      return;
    for (const part of layout.parts(offset, end)) {
      const { frame } = part;
      if (frame === undefined || !states.isInherited(frame)) continue;
      for (const gap of files.sets.written.gaps(part.start, part.end)) {
        const bytes = target.subarray(gap.start - offset, gap.end - offset);
        readWholeSync("ERR_CACHE", base, bytes, gap.start);
      }
    }
  }

  /** Returns the blocks that [start, end) covers only partly. Their rest must be read first. */
  partialBlocks(start: number, end: number): { start: number; end: number }[] {
    const blocks = new Set<number>();
    if (start % BLOCK_SIZE !== 0) blocks.add(Math.floor(start / BLOCK_SIZE));
    if (end % BLOCK_SIZE !== 0 && end < this.size) blocks.add(Math.floor(end / BLOCK_SIZE));
    return [...blocks].map((block) => {
      return { start: block * BLOCK_SIZE, end: Math.min((block + 1) * BLOCK_SIZE, this.size) };
    });
  }

  /**
   * Writes bytes. No frame of the blocks that it covers only partly may be missing.
   *
   * @throws {SnapshotError} `ERR_TARGET`, `ERR_CACHE`
   */
  async write(offset: number, bytes: Uint8Array): Promise<void> {
    const { files } = this;
    const end = offset + bytes.length;
    await this.#change(offset, end, (held) =>
      wrapSystemErrorsSync("ERR_TARGET", `cannot write ${files.name}`, () => {
        this.#copyUp(offset, end, held);
        writeBlocks(files.file.fd, bytes, offset);
      }),
    );
  }

  /** Turns whole blocks to zeros, as a hole if that is allowed and possible. @throws {SnapshotError} `ERR_TARGET` */
  async clear(start: number, end: number, mayPunch: boolean): Promise<void> {
    const { files, libc } = this;
    const { file } = files;
    if (mayPunch && this.#isHole(start, end)) return;
    await this.#change(start, end, () =>
      wrapSystemErrorsSync("ERR_TARGET", `cannot write ${files.name}`, () => {
        if (mayPunch && libc.punchHoleSync(file.fd, start, end - start) === 0) return;
        for (let at = start; at < end; at += ZEROS.length)
          writeBlocks(file.fd, ZEROS.subarray(0, Math.min(ZEROS.length, end - at)), at);
      }),
    );
  }

  /** Returns the status of a part of the image from `start` on, and where it ends. */
  statusAt(start: number, { frame, end }: ImagePart): { end: number; isHole: boolean } {
    const { states, files } = this;
    if (frame === undefined || states.isDone(frame)) return this.#extentAt(start, end);
    const [run] = files.sets.written.runs(start, end);
    if (run?.start === start) return this.#extentAt(start, run.end);
    return { end: run?.start ?? end, isHole: false };
  }

  /** Returns the end of the part from `start` on that is a hole in the file, or data, and which of them it is. */
  #extentAt(start: number, end: number): { end: number; isHole: boolean } {
    const { files, libc } = this;
    const { file } = files;
    const data = libc.lseek(file.fd, start, SEEK_DATA);
    if (data === -constants.errno.ENXIO) {
      // Bytes that a truncated file lacks are not zeros.
      return { end, isHole: libc.lseek(file.fd, 0, SEEK_END) >= end };
    }
    if (data > start) return { end: Math.min(data, end), isHole: true };
    // Data, or an error of lseek, which is treated as data.
    const hole = libc.lseek(file.fd, start, SEEK_HOLE);
    return { end: hole > start ? Math.min(hole, end) : end, isHole: false };
  }

  /** Returns whether a range is zeros already, without any data in the file that would have to be removed. */
  #isHole(start: number, end: number): boolean {
    const { layout, states } = this;
    if (!layout.everyFrame(start, end, (frame) => states.isDone(frame))) return false;
    const extent = this.#extentAt(start, end);
    return extent.isHole && extent.end === end;
  }

  /** Copies the rest of the blocks that a write covers only partly from the base, if it has them. */
  #copyUp(start: number, end: number, held: ReadonlyMap<number, UnheldState>): void {
    const { base, files, layout } = this;
    if (base === undefined) return;
    for (const block of this.partialBlocks(start, end)) {
      for (const { frame, ...part } of layout.parts(block.start, block.end)) {
        if (frame === undefined || held.get(frame) !== FrameState.INHERITED) continue;
        for (const gap of files.sets.written.gaps(part.start, part.end)) {
          const bytes = Buffer.alloc(gap.end - gap.start);
          readWholeSync("ERR_CACHE", base, bytes, gap.start);
          writeFullySync(files.file.fd, bytes, gap.start);
        }
      }
    }
  }

  /** Holds the frames of blocks, changes the blocks, and notes that they were written. */
  async #change(
    start: number,
    end: number,
    change: (held: ReadonlyMap<number, UnheldState>) => void,
  ): Promise<void> {
    const { layout, states, files } = this;
    await files.beginWriting();
    const [first, last] = [Math.floor(start / BLOCK_SIZE), Math.ceil(end / BLOCK_SIZE)];
    const wholeEnd = Math.min(last * BLOCK_SIZE, layout.size);
    let held: Map<number, UnheldState> | undefined;
    for (;;) {
      held = this.#hold(first * BLOCK_SIZE, wholeEnd);
      if (held !== undefined) break;
      await sleep(POLL_INTERVAL);
    }
    try {
      this.#checkLength();
      // Blocks of finished frames are noted before they change: a kill in between leaves their old content. Others are
      // noted after that: if a kill comes first, the fill writes them.
      for (const part of layout.parts(first * BLOCK_SIZE, wholeEnd))
        if (part.frame === undefined || states.isDone(part.frame)) this.#noteWritten(part);
      change(held);
      for (const set of [files.sets.written, ...this.#recorders]) set.add(first, last);
    } catch (error) {
      this.#clearUnwritten(start, end);
      // Written blocks may hold a part of the failed write.
      for (const run of files.sets.written.runs(first * BLOCK_SIZE, wholeEnd))
        for (const set of this.#recorders)
          set.add(run.start / BLOCK_SIZE, Math.ceil(run.end / BLOCK_SIZE));
      throw error;
    } finally {
      for (const [frame, state] of held) states.release(frame, state);
    }
  }

  /** Throws if the file was truncated: a write would extend it again, with zeros. @throws {SnapshotError} `ERR_TARGET` */
  #checkLength(): void {
    const { files, libc } = this;
    const { fd } = files.file;
    if (libc.lseek(fd, 0, SEEK_END) < this.size)
      checkLengthSync("ERR_TARGET", { fd, name: files.name }, this.size);
  }

  /** Notes at once that the blocks of a part are written. */
  #noteWritten({ start, end }: ImagePart): void {
    const { files } = this;
    const [first, last] = [Math.floor(start / BLOCK_SIZE), Math.ceil(end / BLOCK_SIZE)];
    files.sets.written.add(first, last);
    files.noteWritten(first, last);
  }

  /** Clears the remains of a failed write in blocks whose frames are missing: a fill does not write zeros. */
  #clearUnwritten(start: number, end: number): void {
    const { layout, states, files, libc } = this;
    for (const part of layout.parts(start, end)) {
      if (part.frame === undefined || states.isDone(part.frame)) continue;
      for (const { start, end } of files.sets.written.gaps(part.start, part.end)) {
        const isPunched = libc.punchHoleSync(files.file.fd, start, end - start) === 0;
        if (!isPunched) zeroRangeSync(files.file.fd, start, end);
      }
    }
  }

  /** Holds the frames of a range that are not done. Returns undefined, and holds none, if one of them is being written. */
  #hold(start: number, end: number): Map<number, UnheldState> | undefined {
    const { layout, states } = this;
    const held = new Map<number, UnheldState>();
    const isFree = layout.everyFrame(start, end, (frame) => {
      if (states.isDone(frame) || held.has(frame)) return true;
      const state = states.hold(frame);
      if (state === undefined) return states.isDone(frame);
      held.set(frame, state);
      return true;
    });
    if (isFree) return held;
    for (const [frame, state] of held) states.release(frame, state);
    return undefined;
  }
}

/** Writes bytes so that each block has its old or its new content if the process is killed during the write. */
function writeBlocks(fd: number, bytes: Uint8Array, offset: number): void {
  touchPages(bytes);
  writeFullySync(fd, bytes, offset);
}
