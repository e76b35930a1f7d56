/**
 * Private, writable copies of images: reflinks where the file system has them, copies of the data elsewhere, without
 * the holes.
 *
 * Long runs of data are copied in the kernel by `copy_file_range`, which moves each byte once; reading and
 * writing moves it twice. Short runs are read together, holes included, because a system call for each
 * run would take longer.
 */
import { fstat as fstatOf } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { constants } from "node:os";
import { promisify } from "node:util";

import { SnapshotError } from "../error.js";
import { append, type ByteRange, lengthOf } from "../format/byte-ranges.js";
import { type AtomicWriteOptions, writeAtomically } from "./atomic-write.js";
import { checkFreeSpace } from "./disk-space.js";
import { dataExtents } from "./extents.js";
import { type Libc, libc } from "./libc.js";
import { reading } from "./open-file.js";
import { readFully, writeFully } from "./read-write.js";
import { wrapWriteErrors } from "./system-errors.js";

const fstat = promisify(fstatOf);

/** An image that is open for reading. */
export interface OpenedImage {
  readonly fd: number;
  /** Size in bytes. */
  readonly size: number;
  /** Name of the image in messages. */
  readonly name: string;
}

/** A copy in progress. */
export interface CopyTask {
  readonly image: OpenedImage;
  readonly path: string;
  readonly file: FileHandle;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes a private, writable copy of an open image. On file systems with reflinks (XFS, btrfs) the copy
 * shares the blocks of the image; elsewhere the data is copied and holes stay holes. The copy appears
 * whole or not at all.
 *
 * Keep the image open until the promise settles. Its file position changes.
 *
 * @returns how the copy was made
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_IMAGE`, `ERR_IMAGE_CHANGED`
 */
export async function copyImage(
  image: OpenedImage,
  path: string,
  options: AtomicWriteOptions,
): Promise<"clone" | "copy"> {
  options.signal?.throwIfAborted();
  return writeAtomically(path, options, (file) =>
    copyInto({ image, path, file, signal: options.signal }),
  );
}

/**
 * Copies an open image into an empty file, as {@link copyImage} does.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_IMAGE`, `ERR_IMAGE_CHANGED`
 */
export async function copyInto(task: CopyTask): Promise<"clone" | "copy"> {
  if (await clone(task)) return "clone";
  task.signal?.throwIfAborted();
  await copyData(task);
  return "copy";
}

/** Clones the image if the file system can. Returns false on any failure: copying may still succeed. */
async function clone({ image, path, file }: CopyTask): Promise<boolean> {
  const system = await libc();
  if (system === undefined || (await system.clone(file.fd, image.fd)) < 0) return false;
  const { size } = await wrapWriteErrors(path, file.stat());
  checkLength(image, size);
  if (size > image.size) await wrapWriteErrors(path, file.truncate(image.size));
  return true;
}

/** Bytes read at a time. Larger buffers are hardly faster. */
const READ_SIZE = 2 ** 20;

/** Bytes per `copy_file_range`: an abort waits for calls in progress, even on a slow disk. */
const RANGE_SIZE = 2 ** 22;

/** Windows copied concurrently: the kernel writes to a file one call at a time, and the other waits for its turn. */
const LANES = 2;

/** Copies the data of an image. @throws {SnapshotError} `ERR_TARGET`, `ERR_IMAGE`, `ERR_IMAGE_CHANGED` */
async function copyData(task: CopyTask): Promise<void> {
  const { image, path, file } = task;
  const extents = await dataExtents(image.fd, image.size);
  if (extents !== undefined) await checkFreeSpace(path, lengthOf(extents));
  await wrapWriteErrors(path, file.truncate(image.size));
  const lanes = new CopyLanes(task, await libc(), extents);
  await settled(Array.from({ length: LANES }, () => lanes.run()));
  checkLength(image, (await reading("ERR_IMAGE", image.name, fstat(image.fd))).size);
}

/** Throws if an image is shorter than it was when it was opened. */
function checkLength(image: OpenedImage, length: number): void {
  if (length < image.size) throw truncated(image, length);
}

/** The windows of an image, shared by the lanes that copy them. */
class CopyLanes {
  readonly #task: CopyTask;
  readonly #windows: Generator<CopyWindow>;
  /** The C library, until it has refused to copy a range. */
  #libc: Libc | undefined;
  /** Whether runs hold data only; if not, blocks of zeros become holes. */
  readonly #areHolesKnown: boolean;

  constructor(task: CopyTask, system: Libc | undefined, extents: readonly ByteRange[] | undefined) {
    this.#task = task;
    this.#areHolesKnown = extents !== undefined;
    this.#libc = this.#areHolesKnown ? system : undefined;
    const whole = [{ start: 0, end: task.image.size }];
    this.#windows = copyWindows(extents ?? whole, READ_SIZE, RANGE_SIZE);
  }

  /** Copies one window after another until none is left. If it fails, the other lanes find none. */
  async run(): Promise<void> {
    const buffer = Buffer.allocUnsafe(READ_SIZE);
    for (const window of this.#windows) {
      const remaining = window.runs.length === 1 ? await this.#copyInKernel(window) : window.runs;
      for (const { start, end, runs } of copyWindows(remaining, READ_SIZE)) {
        await this.#readAndWrite(buffer.subarray(0, end - start), start, runs);
      }
    }
  }

  /**
   * Copies a range by `copy_file_range`. Returns what is left for reading and writing: that works where
   * the call does not (`EXDEV`, `EINVAL`, `ENOSYS`, `EOPNOTSUPP`), and says what is wrong where neither
   * does, such as a full disk or an image that was truncated.
   */
  async #copyInKernel({ start, end }: CopyWindow): Promise<ByteRange[]> {
    const { image, file, signal } = this.#task;
    let offset = start;
    while (offset < end && this.#libc !== undefined) {
      signal?.throwIfAborted();
      const count = await this.#libc.copyRange(file.fd, image.fd, offset, end - offset);
      if (count > 0) offset += count;
      else if (count !== -constants.errno.EINTR) this.#libc = undefined;
    }
    return offset < end ? [{ start: offset, end }] : [];
  }

  async #readAndWrite(bytes: Buffer, start: number, runs: readonly ByteRange[]): Promise<void> {
    const { image, path, file, signal } = this.#task;
    signal?.throwIfAborted();
    const count = await reading("ERR_IMAGE", image.name, readFully(image.fd, bytes, start));
    if (count < bytes.length) throw truncated(image, start + count);
    const data = this.#areHolesKnown ? runs : nonZeroRuns(bytes, start);
    const writes = data.map((run) =>
      writeFully(file.fd, bytes.subarray(run.start - start, run.end - start), run.start),
    );
    await wrapWriteErrors(path, settled(writes));
  }
}

/** Waits for all promises, even if one is rejected: their files must stay open until then. */
async function settled(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === "rejected") throw result.reason;
  }
}

function truncated({ name, size }: OpenedImage, end: number): SnapshotError {
  const message = `${name} was truncated while it was copied: expected ${size} bytes, found its end at byte ${end}`;
  return new SnapshotError("ERR_IMAGE_CHANGED", message);
}

/** Granularity at which zeros become holes, in bytes. */
const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);

/** A range of a file that is copied in one step: runs of data and the holes between them. */
interface CopyWindow {
  readonly start: number;
  end: number;
  readonly runs: ByteRange[];
}

/**
 * Divides extents into windows: short extents that lie close together share a window of up to `mixedSize`
 * bytes; a window with one run has up to `runSize` bytes.
 */
function* copyWindows(
  extents: Iterable<ByteRange>,
  mixedSize: number,
  runSize = mixedSize,
): Generator<CopyWindow> {
  let window: CopyWindow | undefined;
  for (const extent of extents) {
    for (let start = extent.start; start < extent.end; start = window.end) {
      if (window !== undefined && start >= window.start + mixedSize) {
        yield window;
        window = undefined;
      }
      const size: number = window === undefined ? runSize : mixedSize;
      window ??= { start, end: start, runs: [] };
      window.end = Math.min(extent.end, window.start + size);
      window.runs.push({ start, end: window.end });
    }
  }
  if (window !== undefined) yield window;
}

/** Returns the runs of blocks in `bytes`, which lie at `offset`, that are not all zeros. */
export function nonZeroRuns(bytes: Buffer, offset: number): ByteRange[] {
  const runs: ByteRange[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK);
    if (block.equals(ZEROS.subarray(0, block.length))) continue;
    append(runs, { start: offset + at, end: offset + at + block.length });
  }
  return runs;
}
