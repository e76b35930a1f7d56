/** The files of a disk: its image, and the state file beside it. */
import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import type { FrameStates } from "../decode/frame-states.js";
import { SnapshotError } from "../error.js";
import { BlockSet } from "../format/block-set.js";
import type { Manifest } from "../format/manifest.js";
import { resolveTarget, syncDirectory, wrapWriteErrors } from "../local/atomic-write.js";
import { libc } from "../local/libc.js";
import { lockPrivateFile } from "../local/lock-private-file.js";
import { openPrivate } from "../local/private-file.js";
import { type DiskSets, StateFile } from "./state-file.js";

/** The files of a disk that is open. */
export class DiskFiles {
  readonly sets: DiskSets;
  /** Whether the disk was opened before. */
  readonly isReopened: boolean;
  #states: FrameStates | undefined;
  #isPublished: boolean;
  #lastTurn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly target: string,
    private readonly partial: string,
    /** The image, which has its name when it is complete. */
    readonly file: FileHandle,
    private readonly state: StateFile,
    {
      sets,
      isReopened,
      isPublished,
    }: { sets: DiskSets; isReopened: boolean; isPublished: boolean },
  ) {
    this.sets = sets;
    this.isReopened = isReopened;
    this.#isPublished = isPublished;
  }

  /** Whether the image is complete, and has its name. */
  get isPublished(): boolean {
    return this.#isPublished;
  }

  /** The identity of the snapshot that the changed blocks are relative to. */
  get base(): string {
    return this.state.header?.base ?? "";
  }

  /**
   * Opens the files of a disk, or makes them.
   *
   * @param path the path of the image
   * @throws {SnapshotError} `ERR_TARGET` if they are in use, belong to another snapshot, or cannot be made
   */
  static async open(path: string, { info, frames }: Manifest): Promise<DiskFiles> {
    const target = await resolveTarget(path, {});
    const { partial, state: statePath } = diskPaths(target);
    const stateHandle = await lock(path, statePath);
    try {
      const state = new StateFile(path, stateHandle);
      const header = await state.readHeader();
      if (header !== undefined && header.digest !== info.digest) {
        const message = `${path}: expected a disk of the snapshot ${info.digest}, found one of ${header.digest}`;
        throw new SnapshotError("ERR_TARGET", message);
      }
      const isPublished = lstatSync(target, { throwIfNoEntry: false }) !== undefined;
      const isReopened = header !== undefined && (isPublished || exists(partial));
      if (isPublished && !isReopened) {
        const message = `${path}: expected no file, or an image that was opened before`;
        throw new SnapshotError("ERR_TARGET", message);
      }
      const sets: DiskSets = {
        frames: new Uint8Array(Math.ceil(frames.count / 8)),
        written: BlockSet.of(info.imageSize),
        changed: BlockSet.of(info.imageSize),
      };
      const file = isPublished
        ? await wrapWriteErrors(path, open(target, "r+"))
        : await openPrivate(path, partial, refuse(path));
      try {
        if (isReopened) {
          await state.load(sets);
        } else {
          await wrapWriteErrors(path, file.truncate(0));
          await wrapWriteErrors(path, file.truncate(info.imageSize));
          const { digest, imageSize } = info;
          await state.create({ digest, base: digest, imageSize, frameCount: frames.count });
          await syncDirectory(dirname(target));
        }
        return new DiskFiles(target, partial, file, state, { sets, isReopened, isPublished });
      } catch (error) {
        await file.close();
        throw error;
      }
    } catch (error) {
      await stateHandle.close();
      throw error;
    }
  }

  /** Sets the states of the frames, which {@link sync} stores. */
  track(states: FrameStates): void {
    this.#states = states;
  }

  /** Returns whether the data of a frame is in the image, as far as the state file knows. */
  hasFrame(frame: number): boolean {
    return (
      this.#isPublished || ((this.sets.frames[frame >> 3] as number) & (1 << (frame & 7))) !== 0
    );
  }

  /**
   * Makes durable what was written before the call: first the data, then the state file, which must never know more.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  sync(): Promise<void> {
    return this.#inTurn(() => this.#sync());
  }

  async #sync(): Promise<void> {
    const { written, changed, frames } = this.sets;
    this.#noteFrames();
    const copy = (set: BlockSet) => {
      const buffer = new SharedArrayBuffer(set.buffer.byteLength);
      new Uint8Array(buffer).set(set.bytes);
      return new BlockSet(buffer);
    };
    const sets = { frames: frames.slice(), written: copy(written), changed: copy(changed) };
    await wrapWriteErrors(this.target, this.file.datasync());
    if (await this.state.add(sets)) await this.state.sync();
  }

  /** Gives the complete image its name. @throws {SnapshotError} `ERR_TARGET` */
  publish(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isPublished) return;
      await this.#sync();
      await wrapWriteErrors(this.target, this.file.sync());
      await this.state.sync();
      await wrapWriteErrors(this.target, rename(this.partial, this.target));
      await syncDirectory(dirname(this.target));
      this.#isPublished = true;
    });
  }

  /**
   * Makes durable that the changed blocks are relative to `base` from now on.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  rebase(base: string): Promise<void> {
    return this.#inTurn(() => this.state.rebase(base, this.sets.changed));
  }

  async close(): Promise<void> {
    await this.file.close();
    await this.state.close();
  }

  /** Runs an action when those before it have ended: the state file must not go back to what it knew earlier. */
  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(action);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  /** Notes the frames that are in the image now. */
  #noteFrames(): void {
    const { frames } = this.sets;
    if (this.#states === undefined || this.#isPublished) return;
    for (let frame = 0; frame < this.#states.count; frame += 1) {
      if (this.#states.isDone(frame)) {
        frames[frame >> 3] = (frames[frame >> 3] as number) | (1 << (frame & 7));
      }
    }
  }
}

/** Returns the paths of the partial image and the state file of a disk. */
export function diskPaths(target: string): { partial: string; state: string } {
  const hash = createHash("sha256").update(basename(target)).digest("hex").slice(0, 16);
  const stem = join(dirname(target), `.hedgerow-${hash}`);
  return { partial: `${stem}.disk`, state: `${stem}.state` };
}

/** Removes the files of a disk, but not an image that is complete. */
export async function removeDiskFiles(target: string): Promise<void> {
  const { partial, state } = diskPaths(target);
  await rm(partial, { force: true });
  await rm(state, { force: true });
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
