/** Private copies of images, which share what they can with the original. */
import { fstat as fstatOf } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { promisify } from "node:util";

import { SnapshotError } from "../error.js";
import { dataExtents, type Extent } from "./data-extents.js";
import { libc } from "./libc.js";
import { reading } from "./open-file.js";
import { readFully } from "./read-fully.js";
import { checkRoom } from "./room.js";
import { type WholeOptions, writeWhole, writing } from "./whole-file.js";
import { writeFully } from "./write-fully.js";

const fstat = promisify(fstatOf);

/** An image that is open for reading. */
export interface OpenedImage {
  readonly fd: number;
  /** How long it is, in bytes. */
  readonly size: number;
  /** What it is called in messages. */
  readonly name: string;
}

/** How an image is copied. */
export interface CopyOptions extends WholeOptions {
  readonly isDurable: boolean;
}

/**
 * How far what is copied at once reaches, in bytes: more is hardly faster, and what has begun is waited
 * for when the work is to end, even on a slow disk.
 */
const WINDOW = 2 ** 20;

/** How many windows are copied at a time, so that some are written while others are read. */
const LANES = 3;

/** What holes are made of, in bytes. */
const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);

/**
 * Makes a private copy of an image that is open, for writing: a clone, where the file system can have
 * files share blocks, as XFS and btrfs can, or else of its data, with its holes left holes. The copy
 * appears whole or not at all. Returns which of the two it is.
 *
 * The image has to stay open until then, and its position moves.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_IMAGE`, `ERR_IMAGE_CHANGED`
 */
export async function copyImage(
  image: OpenedImage,
  path: string,
  options: CopyOptions,
): Promise<"clone" | "copy"> {
  options.signal?.throwIfAborted();
  return writeWhole(path, options, async (file) => {
    const copying = { image, path, file, signal: options.signal };
    if (await isCloned(copying)) return "clone";
    options.signal?.throwIfAborted();
    await copyData(copying);
    return "copy";
  });
}

/** A copy that is being made. */
interface Copying {
  readonly image: OpenedImage;
  readonly path: string;
  readonly file: FileHandle;
  readonly signal: AbortSignal | undefined;
}

/** Clones the image, if that is possible. Why it is not does not matter, as a copy may be. */
async function isCloned({ image, path, file }: Copying): Promise<boolean> {
  const system = await libc();
  if (system === undefined || (await system.clone(file.fd, image.fd)) < 0) return false;
  const { size } = await writing(path, file.stat());
  checkLength(image, size);
  if (size > image.size) await writing(path, file.truncate(image.size));
  return true;
}

/**
 * Copies what may be data, by reading and writing: the system's own `copy_file_range` is slower on ext4,
 * and of no use where it could clone.
 */
async function copyData(copying: Copying): Promise<void> {
  const { image, path, file } = copying;
  const extents = await dataExtents(image.fd, image.size);
  if (extents !== undefined) await checkRoom(path, lengthOf(extents));
  await writing(path, file.truncate(image.size));
  const windows = windowsOf(extents ?? [{ start: 0, end: image.size }]);
  const lane = () => copyWindows(copying, windows, extents !== undefined);
  await settled(Array.from({ length: LANES }, lane));
  checkLength(image, (await reading("ERR_IMAGE", image.name, fstat(image.fd))).size);
}

function lengthOf(extents: readonly Extent[]): number {
  return extents.reduce((sum, { start, end }) => sum + end - start, 0);
}

/**
 * What is copied at once: runs of data, and the holes between them. These are read, too, as that takes
 * less time than to read each run by itself.
 */
interface Window {
  readonly start: number;
  end: number;
  readonly runs: Extent[];
}

function* windowsOf(extents: readonly Extent[]): Generator<Window> {
  let window: Window | undefined;
  for (const extent of extents) {
    for (let start = extent.start; start < extent.end; start = window.end) {
      if (window !== undefined && start >= window.start + WINDOW) {
        yield window;
        window = undefined;
      }
      window ??= { start, end: start, runs: [] };
      window.end = Math.min(extent.end, window.start + WINDOW);
      window.runs.push({ start, end: window.end });
    }
  }
  if (window !== undefined) yield window;
}

/**
 * Copies windows, each the next one, until there is none left. If it fails, none is left for others.
 *
 * @param isKnown whether all that lies in runs is data; if not, what is all zeros may be a hole
 */
async function copyWindows(
  { image, path, file, signal }: Copying,
  windows: Generator<Window>,
  isKnown: boolean,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(WINDOW);
  for (const { start, end, runs } of windows) {
    signal?.throwIfAborted();
    const bytes = buffer.subarray(0, end - start);
    const count = await reading("ERR_IMAGE", image.name, readFully(image.fd, bytes, start));
    if (count < bytes.length) throw changed(image, start + count);
    const writes = (isKnown ? runs : dataRuns(bytes, start)).map((run) =>
      writeFully(file.fd, bytes.subarray(run.start - start, run.end - start), run.start),
    );
    await writing(path, settled(writes));
  }
}

/** The runs of whole blocks that are not all zeros, of bytes that lie at `offset`. */
function dataRuns(bytes: Buffer, offset: number): Extent[] {
  const runs: { start: number; end: number }[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK);
    if (block.equals(ZEROS.subarray(0, block.length))) continue;
    const [start, end] = [offset + at, offset + at + block.length];
    const before = runs.at(-1);
    if (before?.end === start) before.end = end;
    else runs.push({ start, end });
  }
  return runs;
}

/** Waits until all have ended, even if one fails, since nobody may close their files before. */
async function settled(work: readonly Promise<void>[]): Promise<void> {
  for (const ended of await Promise.allSettled(work)) {
    if (ended.status === "rejected") throw ended.reason;
  }
}

/** Throws if the image ends too soon. */
function checkLength(image: OpenedImage, length: number): void {
  if (length < image.size) throw changed(image, length);
}

/** What is told of an image that was cut off meanwhile. */
function changed({ name, size }: OpenedImage, end: number): SnapshotError {
  const message = `${name} changed while it was copied: expected ${size} bytes, found its end at byte ${end}`;
  return new SnapshotError("ERR_IMAGE_CHANGED", message);
}
