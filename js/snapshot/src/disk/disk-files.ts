/** The files of a disk: its image, and the state file beside it. */
import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import type { FrameStates } from "../decode/frame-states.js";
import { SnapshotError } from "../error.js";
import { BlockSet } from "../format/block-set.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Manifest } from "../format/manifest.js";
import { resolveTarget, syncDirectory, wrapWriteErrors } from "../local/atomic-write.js";
import { libc } from "../local/libc.js";
import { lockPrivateFile } from "../local/lock-private-file.js";
import { openPrivate } from "../local/private-file.js";
import { zeroHoles } from "../local/zero-range.js";
import type { BaseImage } from "./base-image.js";
import { type DiskSets, StateFile } from "./state-file.js";

/** Where the kernel says in which boot the system is. */
const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** What is known of the files of a disk when they have been opened. */
interface Found {
  readonly sets: DiskSets;
  readonly mayHoldData: boolean;
  readonly isPublished: boolean;
}

/** The files of a disk that is open. */
export class DiskFiles {
  readonly sets: DiskSets;
  /** Whether the image may hold data where frames are missing. */
  readonly mayHoldData: boolean;
  #states: FrameStates | undefined;
  #isPublished: boolean;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #writing: Promise<void> | undefined;
  /** Whether the directory may not have the names of the files yet, if the system fails. */
  #isNew: boolean;

  private constructor(
    private readonly target: string,
    private readonly partial: string,
    /** The image, which has its name when it is complete. */
    readonly file: FileHandle,
    private readonly state: StateFile,
    { sets, mayHoldData, isPublished }: Found,
  ) {
    this.sets = sets;
    this.mayHoldData = mayHoldData;
    this.#isPublished = isPublished;
    this.#isNew = !isPublished;
  }

  /** Whether the image is complete, and has its name. */
  get isPublished(): boolean {
    return this.#isPublished;
  }

  /** The path at which the image is now. */
  get path(): string {
    return this.#isPublished ? this.target : this.partial;
  }

  /**
   * Opens the files of a disk, or makes them.
   *
   * @param path the path of the image
   * @param base an image to begin with, if the file system can clone it
   * @throws {SnapshotError} `ERR_TARGET` if they are in use, belong to another snapshot, or cannot be made
   */
  static async open(
    path: string,
    manifest: Manifest,
    base: BaseImage | undefined,
  ): Promise<DiskFiles> {
    const target = await resolveTarget(path, {});
    const { partial, state: statePath } = diskPaths(target);
    const stateFile = await lock(path, statePath);
    let file: FileHandle | undefined;
    const isPublished = exists(target);
    const wasThere = isPublished || exists(partial);
    try {
      const state = new StateFile(path, stateFile);
      const isKnown = await isReopened(path, state, manifest, wasThere);
      if (isPublished && !isKnown) {
        const message = `${path}: expected no file, or an image that was opened before`;
        throw new SnapshotError("ERR_TARGET", message);
      }
      // It must never vouch for a file that is made after it.
      if (!isKnown) await state.clear();
      file = isPublished
        ? await wrapWriteErrors(path, open(target, "r+"))
        : await openPrivate(path, partial, refuse(path));
      const found = isKnown
        ? await reopen(state, manifest, isPublished)
        : await create({ path, file, state, base }, manifest);
      return new DiskFiles(target, partial, file, state, found);
    } catch (error) {
      await file?.close();
      // The state file is locked, so that nobody else has begun to use it.
      if (!wasThere) for (const name of [partial, statePath]) await rm(name, { force: true });
      await stateFile.close();
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
    this.#writing ??= this.#inTurn(() => this.state.setWrittenIn(bootId())).catch((error) => {
      this.#writing = undefined;
      throw error;
    });
    return this.#writing;
  }

  /** Notes at once that the blocks [first, end) of the set are being written. @throws {SnapshotError} `ERR_TARGET` */
  noteWritten(first: number, end: number): void {
    this.state.note(this.sets.written, first, end);
  }

  /**
   * Makes durable what was written before the call: first the data, then the state file, which must never know more.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  sync(): Promise<void> {
    return this.#inTurn(() => this.#sync());
  }

  /** Gives the complete image its name. @throws {SnapshotError} `ERR_TARGET` */
  publish(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isPublished) return;
      await this.#sync();
      await wrapWriteErrors(this.target, this.file.sync());
      await wrapWriteErrors(this.target, rename(this.partial, this.target));
      await syncDirectory(dirname(this.target));
      this.#isPublished = true;
    });
  }

  /** Makes everything durable, and closes the files. @throws {SnapshotError} `ERR_TARGET` */
  async close(): Promise<void> {
    try {
      await this.sync();
      await this.state.setWrittenIn("");
    } finally {
      await this.file.close();
      await this.state.close();
    }
  }

  async #sync(): Promise<void> {
    // Later writes are not durable yet.
    const sets = { frames: this.#doneFrames(), written: this.sets.written.copy() };
    await wrapWriteErrors(this.target, this.file.datasync());
    await this.state.add(sets);
    if (this.#isNew) await syncDirectory(dirname(this.target));
    this.#isNew = false;
  }

  /** Runs an action when those before it have ended: the state file must not go back to what it knew earlier. */
  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(action);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  /** Returns the frames that are in the image now. */
  #doneFrames(): Uint8Array {
    const { frames } = this.sets;
    for (let frame = 0; frame < (this.#states?.count ?? 0); frame += 1)
      if (this.#states?.isDone(frame)) addBit(frames, frame);
    return frames.slice();
  }
}

/** Returns the paths of the partial image and the state file of a disk. */
export function diskPaths(target: string): { partial: string; state: string } {
  const hash = createHash("sha256").update(basename(target)).digest("hex").slice(0, 16);
  const stem = join(dirname(target), `.hedgerow-${hash}`);
  return { partial: `${stem}.disk`, state: `${stem}.state` };
}

/** Returns whether a state file belongs to an image that exists. @throws {SnapshotError} `ERR_TARGET` if it is of another snapshot */
async function isReopened(
  path: string,
  state: StateFile,
  { info: { digest } }: Manifest,
  hasImage: boolean,
): Promise<boolean> {
  const header = await state.readHeader();
  if (header === undefined || !hasImage) return false;
  if (header.digest === digest) return true;
  const message = `${path}: expected a disk of the snapshot ${digest}, found one of ${header.digest}`;
  throw new SnapshotError("ERR_TARGET", message);
}

/** Loads the sets of a disk that was opened before. */
async function reopen(state: StateFile, manifest: Manifest, isPublished: boolean): Promise<Found> {
  const sets = emptySets(manifest);
  const { writtenIn } = state.header ?? { writtenIn: "" };
  const hasFailed = writtenIn !== "" && writtenIn !== bootId();
  await state.load(sets, !hasFailed);
  if (hasFailed) {
    // The system has failed since the disk was written to: blocks may have reached the image that the state file does
    // not know. An image that is complete keeps them, and all of its blocks count as written. Of others, only blocks
    // count that were flushed.
    if (isPublished) {
      sets.written.add(0, Math.ceil(manifest.info.imageSize / BLOCK_SIZE));
      await state.add(sets);
    } else {
      sets.frames.fill(0);
      await state.forgetFrames();
    }
    await state.setWrittenIn("");
  }
  return { sets, mayHoldData: true, isPublished };
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
  await wrapWriteErrors(path, file.truncate(imageSize));
  if (isClone) {
    await wrapWriteErrors(path, zeroHoles(file, frames, imageSize));
    for (const frame of base.frames) addBit(sets.frames, frame);
  }
  await state.create({ digest, imageSize, frameCount: frames.count });
  return { sets, mayHoldData: isClone, isPublished: false };
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

/** Returns the identity of the current boot of the system. */
function bootId(): string {
  return readFileSync(BOOT_ID, "utf8").trim();
}

async function lock(path: string, state: string): Promise<FileHandle> {
  const file = await lockPrivateFile(path, state, refuse(path));
  if (file !== undefined) return file;
  const reason =
    (await libc()) === undefined
      ? "disks need Linux and the optional package koffi"
      : "another process has opened it";
  throw new SnapshotError("ERR_TARGET", `cannot open ${path}: ${reason}`);
}

/** Refuses to remove a file that is not private: it may hold what was written. */
function refuse(path: string): (unfit: string) => Promise<void> {
  return async (unfit) => {
    const message = `${path}: expected ${unfit} to be a private file of this user`;
    throw new SnapshotError("ERR_TARGET", message);
  };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
