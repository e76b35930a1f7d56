/** Saves what changed on a disk, while it is in use. */

import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { unlessAborted } from "../abort.js";
import { type ImageCache, leaseCached } from "../cache/image-cache.js";
import { BOOLEAN, type Checks, checkPinned, FUNCTION } from "../check.js";
import type { FrameStates } from "../decode/frame-states.js";
import { createDelta, type DeltaResult, rewrittenBy } from "../delta/create-delta.js";
import { DeltaTooLargeError } from "../delta/delta-encoder.js";
import type { EncodeJob, WriteOptions } from "../encode/encode-image.js";
import {
  checkEncoding,
  ENCODING_CHECKS,
  type EncodingOptions,
  encodingOf,
} from "../encode/snapshot-encoder.js";
import { BlockSet } from "../format/block-set.js";
import { type ByteRange, lengthOf } from "../format/byte-ranges.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Manifest, SnapshotInfo } from "../format/manifest.js";
import { ImageSegments } from "../format/segments.js";
import { TRANSFER_CHECKS, transferOf } from "../http/transfer.js";
import { dataExtents } from "../local/extents.js";
import { ImageFile } from "../local/image-file.js";
import { libc } from "../local/libc.js";
import { Turns } from "../local/locks.js";
import { openTemporaryFile } from "../local/private-file.js";
import { checkLengthSync, readWholeSync, writeFullySync } from "../local/read-write.js";
import { wrapSystemErrorsSync, wrapWriteErrors } from "../local/system-errors.js";
import type { Location } from "../location/location.js";
import { openSource, type ReadOptions, type ReadWorkOptions } from "../location/source.js";
import { writeFullSnapshot, writeSnapshot } from "../location/write-snapshot.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import { WORK_CHECKS } from "../workers/pool.js";
import { copyInherited } from "./base-image.js";
import { type CopiedRange, packedRanges, rangesOf } from "./copied-ranges.js";
import type { DiskFiles } from "./disk-files.js";
import type { DiskImage } from "./disk-image.js";
import type { DiskEngine } from "./engine.js";

/** From how many bytes on the image is cloned: the clone of a file with many extents takes longer than a small copy. */
const MIN_CLONE = 2 ** 25;

/** The number of bytes to copy at a time. */
const COPY_SIZE = 2 ** 20;

/** How long to copy before yielding to others, in milliseconds. */
const COPY_TIME = 4;

/** The number of bytes that are fetched at a time. */
const BRING_SIZE = 2 ** 26;

/** Options of `Disk.save`. Those of the transfer default to those with which the disk was opened. */
export interface SaveOptions
  extends WriteOptions,
    Pick<EncodingOptions, "level">,
    Pick<ReadOptions, "resolve"> {}

/** The checks of {@link SaveOptions}. */
export const SAVE_CHECKS: Checks<SaveOptions> = {
  ...WORK_CHECKS,
  ...TRANSFER_CHECKS,
  level: ENCODING_CHECKS.level,
  overwrite: BOOLEAN,
  verify: BOOLEAN,
  resolve: FUNCTION,
};

/** A disk to save. */
interface DiskToSave {
  readonly image: DiskImage;
  readonly engine: DiskEngine;
  readonly states: FrameStates;
  /** The manifest of the snapshot that was opened. */
  readonly manifest: Manifest;
  readonly location: Location;
  readonly cache: ImageCache | undefined;
  readonly options: ReadWorkOptions;
  /** Aborted when the disk is closed. */
  readonly signal: AbortSignal;
}

/** A snapshot that the next delta is relative to. */
interface SavedSnapshot {
  readonly location: Location;
  readonly digest: string;
  /** Its manifest, if it is in memory: otherwise the next save reads it. */
  readonly manifest: Manifest | undefined;
}

/** A delta that was published. */
export type SavedDelta = Omit<SavedSnapshot, "digest">;

/** Where a delta goes. */
export interface SaveTarget {
  /** The location that references in it are relative to. */
  readonly location: Location;
  /** Writes it. Default: to that location. */
  write?(making: EncodeJob): Promise<SnapshotInfo>;
  /** Calls `copy` while the programs that use the disk are frozen. Default: they are not. */
  whileFrozen?<T>(copy: () => Promise<T>): Promise<T>;
  /** Publishes the delta that was written. If it throws, nothing was saved. */
  publish?(info: SnapshotInfo): Promise<SavedDelta>;
  /** Called in place of that if nothing has changed. Default: an empty delta is written. */
  unchanged?(): Promise<void>;
}

/** The result of a save. */
interface Saved {
  /** Undefined if the target wants nothing of a disk that has not changed. */
  readonly info: (SnapshotInfo & Partial<DeltaResult>) | undefined;
  /** For how many milliseconds writes had to wait. */
  readonly pause: number;
}

/** A copy of what changed on a disk, and of other ranges. */
interface Copied {
  readonly copy: ImageFile;
  /** The blocks that changed, unless they are unknown. */
  readonly changed: BlockSet | undefined;
  /** Returns the ranges in the copy, unless it has all data of the disk. */
  readonly ranges: (() => Iterator<CopiedRange>) | undefined;
}

/** Saves a disk, each time relative to the snapshot before. */
export class DiskSaver {
  readonly #disk: DiskToSave;
  #last: SavedSnapshot;
  /** The blocks that were written since that snapshot. */
  #changed: BlockSet;
  #stopRecording: () => void;
  /** Whether the next save is a full snapshot, because a delta exceeds a limit of the format. */
  #isFull = false;
  readonly #turns = new Turns();

  constructor(disk: DiskToSave) {
    this.#disk = disk;
    const { manifest, location, image } = disk;
    this.#last = { location, digest: manifest.info.digest, manifest };
    // Writes of earlier openings count, too.
    this.#changed = image.files.sets.written.copy();
    this.#stopRecording = image.record(this.#changed);
  }

  /** The number of bytes in blocks that were written since the last save. */
  get changedBytes(): number {
    return lengthOf([...this.#changed.runs(0, this.#disk.image.size)]);
  }

  /**
   * Writes a delta of what changed. Calls wait for each other.
   *
   * @throws {DeltaTooLargeError} if it exceeds a limit of the format: the next call writes a full snapshot
   */
  save(target: SaveTarget, options: SaveOptions): Promise<Saved> {
    return this.#turns.run(() => this.#save(target, options));
  }

  /** Waits until no save is running. */
  settled(): Promise<void> {
    return this.#turns.settled();
  }

  async #save(target: SaveTarget, options: SaveOptions): Promise<Saved> {
    const { image, cache, signal } = this.#disk;
    const mayHoldData = (start: number, end: number) => image.mayHoldData(start, end);
    signal.throwIfAborted();
    options.signal?.throwIfAborted();
    const work = { ...this.#disk.options, ...options, signal: options.signal };
    const { location, digest } = this.#last;
    const manifest = this.#last.manifest ?? (await manifestOf(this.#last, work));
    const { imageSize, pieceSize } = manifest.info;
    const segments = new ImageSegments(manifest, imageSize);
    const job = { options: work, transfer: transferOf(work) };
    if (this.#isFull) {
      const saved = await this.#saveInFull(target, options, segments, pieceSize, job);
      this.#isFull = false;
      return saved;
    }
    const rewritten = rewrittenBy(manifest, segments);
    const encoding = encodingOf({ ...options, pieceSize });
    checkEncoding(await compiledEncode(), encoding);
    await this.#bring(rewritten, options.signal);
    try {
      return await this.#saveCopy(target, rewritten, true, ({ copy, changed, ranges }) =>
        createDelta({
          ...job,
          image: copy,
          encoding,
          destination: target.location,
          write: target.write,
          delta: {
            base: location,
            baseDigest: digest,
            changed: changed?.runs(0, imageSize),
            copied: changed && ranges && { candidates: { [Symbol.iterator]: ranges }, mayHoldData },
          },
          lease: async (wanted) => cache && leaseCached(cache, wanted),
          manifest: changed && manifest,
        }),
      );
    } catch (error) {
      // If another volume fails, its error aborts this save, too.
      this.#isFull = error instanceof DeltaTooLargeError && options.signal?.aborted !== true;
      throw error;
    }
  }

  async #saveInFull(
    target: SaveTarget,
    { level, signal }: SaveOptions,
    segments: ImageSegments,
    pieceSize: number,
    job: Pick<EncodeJob, "options" | "transfer">,
  ): Promise<Saved> {
    const { image } = this.#disk;
    // In larger pieces, the whole image has few frames.
    const larger = encodingOf({ level });
    const encoding = { ...larger, pieceSize: Math.max(larger.pieceSize, pieceSize) };
    await this.#bring(segments.extents(), signal);
    const data = await dataExtents(image.files.file.fd, image.size);
    const whole = [{ start: 0, end: image.size }];
    return this.#saveCopy(target, data ?? whole, false, ({ copy }) => {
      const { write = (making) => writeSnapshot(target.location, making) } = target;
      return writeFullSnapshot(write, { ...job, image: copy, encoding });
    });
  }

  /**
   * Calls `write` with a copy of what changed and of other ranges, and publishes what it has written.
   *
   * @param mayPack whether the copy may have one block after another, if it is known which have changed
   */
  async #saveCopy(
    target: SaveTarget,
    others: readonly ByteRange[],
    mayPack: boolean,
    write: (copied: Copied) => Promise<SnapshotInfo & Partial<DeltaResult>>,
  ): Promise<Saved> {
    const { image } = this.#disk;
    const { files } = image;
    // Beside the image, so that it can be a clone of it.
    const { handle: file } = await openTemporaryFile(dirname(files.path));
    const changed = BlockSet.of(image.size);
    try {
      const { pause, ...copied } = await this.#copy(file, changed, others, mayPack, target);
      if (target.unchanged !== undefined && changed.runs(0, image.size).next().done) {
        await target.unchanged();
        return { info: undefined, pause };
      }
      const copy = await ImageFile.of(files.path, file, image.size);
      const info = await write({ copy, ...copied });
      const published = { location: target.location, manifest: undefined };
      this.#last = { ...((await target.publish?.(info)) ?? published), digest: info.digest };
      return { info, pause };
    } catch (error) {
      this.#changed.addBits(changed.bytes);
      throw error;
    } finally {
      await file.close();
    }
  }

  /**
   * Copies the changed blocks and other ranges. Returns how long writes had to wait, in milliseconds, and what was copied.
   *
   * @param copied receives the blocks that changed
   * @param others other ranges to copy
   */
  async #copy(
    file: FileHandle,
    copied: BlockSet,
    others: readonly ByteRange[],
    mayPack: boolean,
    { whileFrozen = (copy) => copy() }: SaveTarget,
  ): Promise<Omit<Copied, "copy"> & { readonly pause: number }> {
    const { engine, image } = this.#disk;
    const { files, size } = image;
    /** Returns the changes until now. Those that follow are recorded anew. */
    const takeChanges = async () => {
      this.#stopRecording();
      const taken = this.#changed;
      this.#changed = BlockSet.of(size);
      this.#stopRecording = image.record(this.#changed);
      copied.addBits(taken.bytes);
      return taken;
    };
    const early = await engine.whileUnchanged(takeChanges);
    const first = early.result;
    // If all blocks count as written, they may only be unknown.
    const isKnown = !first.hasAll(0, Math.ceil(size / BLOCK_SIZE));
    for (const { start, end } of others) first.addBytes(start, end);
    const length = lengthOf(first.runs(0, size));
    const isClone = length >= MIN_CLONE && (await cloneImage(files, file, size));
    const isPacked = mayPack && isKnown && !isClone;
    if (!isClone) {
      if (!isPacked) await wrapWriteErrors(files.path, file.truncate(size));
      await copyRanges(files, file, rangesOf(first, size, isPacked ? 0 : undefined));
    }
    // Programs have written little during the first copy.
    const late = await whileFrozen(() =>
      engine.whileUnchanged(async () => {
        const second = await takeChanges();
        await copyRanges(files, file, rangesOf(second, size, isPacked ? length : undefined));
        return second;
      }),
    );
    const second = late.result;
    if (!isPacked) first.addBits(second.bytes);
    const ranges = () => (isPacked ? packedRanges(first, second, size) : rangesOf(first, size));
    return {
      pause: early.pause + late.pause,
      changed: isKnown ? copied : undefined,
      ranges: isClone && files.isPublished ? undefined : ranges,
    };
  }

  /** Brings ranges into the local image. @param aborted ends the wait for a server that does not answer */
  async #bring(ranges: readonly ByteRange[], aborted: AbortSignal | undefined): Promise<void> {
    const { engine, states, manifest, image, signal } = this.#disk;
    const { base, files } = image;
    for (const { start, end } of windowsOf(ranges, BRING_SIZE)) {
      await unlessAborted(engine.fetch(start, end), aborted);
      if (base === undefined) continue;
      await copyInherited(base, image.frames(start, end), { states, manifest }, files, signal);
    }
  }
}

/** Runs a save, and once more if a delta exceeds a limit of the format: it is then a full snapshot. */
export async function inFullIfTooLarge<T>(save: () => Promise<T>): Promise<T> {
  try {
    return await save();
  } catch (error) {
    if (error instanceof DeltaTooLargeError) return save();
    throw error;
  }
}

/** Divides ranges into windows of at most `size` bytes. */
function* windowsOf(ranges: readonly ByteRange[], size: number): Generator<ByteRange> {
  for (const { start, end } of ranges)
    for (let at = start; at < end; at += size) yield { start: at, end: Math.min(at + size, end) };
}

/** Reads the manifest of the last save. */
async function manifestOf(
  { location, digest }: SavedSnapshot,
  options: ReadOptions,
): Promise<Manifest> {
  const source = await openSource(location, { options, wanted: "info" });
  try {
    const manifest = await source.manifest();
    checkPinned(source.name, digest, manifest.info.digest);
    return manifest;
  } finally {
    await source.close();
  }
}

/**
 * Clones the image. Returns false if the file system cannot.
 *
 * @throws {SnapshotError} `ERR_IMAGE_CHANGED`
 */
async function cloneImage({ file, path }: DiskFiles, copy: FileHandle, size: number) {
  const system = await libc();
  if (system === undefined || (await system.clone(copy.fd, file.fd)) !== 0) return false;
  checkLengthSync("ERR_IMAGE_CHANGED", { fd: copy.fd, name: path }, size);
  return true;
}

/**
 * Copies ranges of the image. The calls are synchronous: asynchronous ones take several times as long for a block.
 *
 * @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED`, `ERR_TARGET`
 */
async function copyRanges(
  { file, path: name }: DiskFiles,
  copy: FileHandle,
  ranges: Iterable<CopiedRange>,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(COPY_SIZE);
  let [position, length, begun] = [0, 0, performance.now()];
  const write = () => {
    const bytes = buffer.subarray(0, length);
    wrapSystemErrorsSync("ERR_TARGET", `cannot write ${name}`, () =>
      writeFullySync(copy.fd, bytes, position),
    );
    position += length;
    length = 0;
  };
  for (const range of ranges) {
    if (range.position !== position + length) {
      write();
      position = range.position;
    }
    for (let at = range.start; at < range.end; ) {
      if (length === COPY_SIZE) write();
      const bytes = buffer.subarray(length, length + range.end - at);
      readWholeSync("ERR_IMAGE", { fd: file.fd, name }, bytes, at, "ERR_IMAGE_CHANGED");
      at += bytes.length;
      length += bytes.length;
      if (performance.now() - begun < COPY_TIME) continue;
      await setImmediate();
      begun = performance.now();
    }
  }
  write();
}
