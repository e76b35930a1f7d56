/** The files of a disk: its image, and the state file beside it. */
import { readFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

import type { FrameStates } from "../decode/frame-states.js";
import { SnapshotError } from "../error.js";
import { BlockSet } from "../format/block-set.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Manifest } from "../format/manifest.js";
import { FileSync, syncDirectory } from "../local/atomic-write.js";
import { zeroHoles } from "../local/disk-space.js";
import { libc } from "../local/libc.js";
import { Turns } from "../local/locks.js";
import { checkLengthSync } from "../local/read-write.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import type { BaseImage } from "./base-image.js";
import type { LockedDisk } from "./locked-disk.js";
import type { DiskSets, StateFile } from "./state-file.js";

/** The file with the ID of the current boot. */
const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** The state of the files of a disk when they are opened. */
interface Found {
  readonly sets: DiskSets;
  readonly mayHoldData: boolean;
  readonly isPublished: boolean;
  /** The size of the image, in bytes. */
  readonly imageSize: number;
}

/** The files of a disk that is open. */
export class DiskFiles {
  readonly sets: DiskSets;
  /** Whether the image may hold data where frames are missing. */
  readonly mayHoldData: boolean;
  readonly #image: FileSync;
  readonly #state: StateFile;
  readonly #imageSize: number;
  #states: FrameStates | undefined;
  #isPublished: boolean;
  /** Orders writes of the state file, which must never return to an earlier state. */
  readonly #turns = new Turns();
  #writing: Promise<void> | undefined;
  /** Whether the directory may not have the names of the files yet, if the system fails. */
  #isNew: boolean;
  #isUnneeded = () => false;

  private constructor(
    private readonly disk: LockedDisk,
    /** The image, which has its name when it is complete. */
    readonly file: FileHandle,
    { sets, mayHoldData, isPublished, imageSize }: Found,
  ) {
    this.#image = new FileSync(disk.paths.target, file);
    this.#state = disk.state;
    this.#imageSize = imageSize;
    this.sets = sets;
    this.mayHoldData = mayHoldData;
    this.#isPublished = isPublished;
    this.#isNew = !isPublished;
  }

  /** Whether the image is complete, and has its name. */
  get isPublished(): boolean {
    return this.#isPublished;
  }

  /** The path of the image when it is complete, for messages. */
  get name(): string {
    return this.disk.name;
  }

  /** The path at which the image is now. */
  get path(): string {
    const { target, partial } = this.disk.paths;
    return this.#isPublished ? target : partial;
  }

  /**
   * Opens the files of a disk, or makes them.
   *
   * @param base an image to begin with, if the file system can clone it
   * @throws {SnapshotError} `ERR_TARGET` if they belong to another snapshot, or cannot be made
   */
  static async open(
    disk: LockedDisk,
    manifest: Manifest,
    base: BaseImage | undefined,
  ): Promise<DiskFiles> {
    const { name, state, isPublished } = disk;
    const isKnown = isOf(disk, manifest);
    if (isPublished && !isKnown) {
      const message = `${name}: expected no file, or an image that was opened before`;
      throw new SnapshotError("ERR_TARGET", message);
    }
    // It must never describe a file that is created after it.
    if (!isKnown) await state.clear();
    const file = await disk.openImage();
    try {
      const found = isKnown
        ? await reopen({ path: name, file, state, isPublished }, manifest)
        : await create({ path: name, file, state, base }, manifest);
      disk.made();
      return new DiskFiles(disk, file, found);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Sets the states of the frames, which {@link sync} stores. */
  track(states: FrameStates): void {
    this.#states = states;
  }

  /** Returns whether the data of a frame is in the image, as far as the state file knows. */
  hasFrame(frame: number): boolean {
    return this.#isPublished || hasBit(this.sets.frames, frame);
  }

  /** Notes that the disk is being written to. Must be called before. @throws {SnapshotError} `ERR_TARGET` */
  beginWriting(): Promise<void> {
    this.#writing ??= this.#turns
      .run(() => this.#state.setWrittenIn(bootId()))
      .catch((error) => {
        this.#writing = undefined;
        throw error;
      });
    return this.#writing;
  }

  /** Notes at once that the blocks [first, end) of the set are being written. @throws {SnapshotError} `ERR_TARGET` */
  noteWritten(first: number, end: number): void {
    this.#state.note(this.sets.written, first, end);
  }

  /**
   * Makes all earlier writes durable: first the data, then the state file, which must never list data that the image
   * lacks.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  sync(): Promise<void> {
    return this.#turns.run(() => this.#sync());
  }

  /** Gives the complete image its name. @throws {SnapshotError} `ERR_TARGET` */
  publish(): Promise<void> {
    return this.#turns.run(async () => {
      if (this.#isPublished) return;
      await this.#sync();
      await this.#image.run("sync");
      await this.disk.publish();
      this.#isPublished = true;
    });
  }

  /** Notes when the image will be removed once it is closed: it need not be durable then. */
  removeIf(isUnneeded: () => boolean): void {
    this.#isUnneeded = isUnneeded;
  }

  /** Makes everything durable, and closes the image. @throws {SnapshotError} `ERR_TARGET` */
  async close(): Promise<void> {
    try {
      if (this.#isUnneeded()) return;
      await this.sync();
      await this.#state.setWrittenIn("");
    } finally {
      await this.file.close();
    }
  }

  async #sync(): Promise<void> {
    // Later writes are not durable yet.
    const sets = { frames: this.#doneFrames(), written: this.sets.written.copy() };
    const { target } = this.disk.paths;
    await this.#image.run();
    checkLengthSync("ERR_TARGET", { fd: this.file.fd, name: this.path }, this.#imageSize);
    await this.#state.add(sets);
    if (this.#isNew) await syncDirectory(dirname(target));
    this.#isNew = false;
  }

  /** Returns the frames that are in the image now. */
  #doneFrames(): Uint8Array {
    const { frames } = this.sets;
    for (let frame = 0; frame < (this.#states?.count ?? 0); frame += 1)
      if (this.#states?.isDone(frame)) addBit(frames, frame);
    return frames.slice();
  }
}

/** Returns whether a disk was opened before. @throws {SnapshotError} `ERR_TARGET` if it is of another snapshot */
function isOf(disk: LockedDisk, { info: { digest } }: Manifest): boolean {
  if (disk.digest === undefined) return false;
  if (disk.digest === digest) return true;
  const message = `${disk.name}: expected a disk of the snapshot ${digest}, found one of ${disk.digest}`;
  throw new SnapshotError("ERR_TARGET", message);
}

/** Loads the sets of a disk that was opened before. */
async function reopen(
  {
    path,
    file,
    state,
    isPublished,
  }: { path: string; file: FileHandle; state: StateFile; isPublished: boolean },
  manifest: Manifest,
): Promise<Found> {
  const { frames, info } = manifest;
  const { imageSize } = info;
  const sets = emptySets(manifest);
  const { writtenIn } = state.header ?? { writtenIn: "" };
  const hasFailed = writtenIn !== "" && writtenIn !== bootId();
  await state.load(sets, !hasFailed);
  // Only flushed blocks of an incomplete image count.
  if (hasFailed && !isPublished) sets.frames.fill(0);
  if ((await wrapWriteErrors(path, file.stat())).size < imageSize) {
    // A power failure may have left a new image without its size, but not without data that the state file knows.
    const end = isPublished ? imageSize : endOfData(sets, manifest);
    checkLengthSync("ERR_TARGET", { fd: file.fd, name: path }, end);
    await wrapWriteErrors(path, file.truncate(imageSize));
  }
  if (hasFailed) {
    // The system has failed since the disk was written to: the image may have blocks that the state file does not list.
    // An image that is complete keeps them, and all of its blocks count as written.
    if (isPublished) {
      sets.written.add(0, Math.ceil(imageSize / BLOCK_SIZE));
      await state.add(sets);
    } else {
      // No frame replaces data that may have reached holes.
      const kept = sets.written.runs(0, imageSize);
      await wrapWriteErrors(path, zeroHoles(file, frames, imageSize, kept));
      await wrapWriteErrors(path, file.datasync());
      await state.forgetUnsynced();
    }
    await state.setWrittenIn("");
  }
  return { sets, mayHoldData: true, isPublished, imageSize };
}

/** Returns the end of the last data of an image, by its state file. */
function endOfData({ frames: bits, written }: DiskSets, { frames, info }: Manifest): number {
  let end = 0;
  for (const run of written.runs(0, info.imageSize)) end = run.end;
  for (let frame = 0; frame < frames.count; frame += 1) {
    if (frames.isHole(frame) || !hasBit(bits, frame)) continue;
    for (const { imageOffset, length } of frames.segments(frame))
      end = Math.max(end, imageOffset + length);
  }
  return end;
}

/** Makes the files of a new disk: its image is a clone of that of a base, or empty. */
async function create(
  {
    path,
    file,
    state,
    base,
  }: { path: string; file: FileHandle; state: StateFile; base: BaseImage | undefined },
  manifest: Manifest,
): Promise<Found> {
  const { info, frames } = manifest;
  const { digest, imageSize } = info;
  const sets = emptySets(manifest);
  await wrapWriteErrors(path, file.truncate(0));
  const system = await libc();
  const isClone =
    base !== undefined && system !== undefined && (await system.clone(file.fd, base.fd)) === 0;
  if (isClone) checkLengthSync("ERR_CACHE", { fd: file.fd, name: base.name }, base.size);
  await wrapWriteErrors(path, file.truncate(imageSize));
  if (isClone) {
    await wrapWriteErrors(path, zeroHoles(file, frames, imageSize));
    for (const frame of base.frames) addBit(sets.frames, frame);
  }
  await state.create({ digest, imageSize, frameCount: frames.count });
  return { sets, mayHoldData: isClone, isPublished: false, imageSize };
}

function emptySets({ info, frames }: Manifest): DiskSets {
  return {
    frames: new Uint8Array(Math.ceil(frames.count / 8)),
    written: BlockSet.of(info.imageSize),
  };
}

function hasBit(bits: Uint8Array, index: number): boolean {
  return ((bits[index >> 3] as number) & (1 << (index & 7))) !== 0;
}

function addBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] as number) | (1 << (index & 7));
}

/** Returns the ID of the current boot of the system. */
function bootId(): string {
  return readFileSync(BOOT_ID, "utf8").trim();
}
