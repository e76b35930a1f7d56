import { BOOLEAN, type Checks, checkOptions, type Duration, duration, text } from "../check.js";
import { BlockDevice, type OpenDisk } from "../disk/disk.js";
import { FILL_CHECKS, type FillOptions } from "../disk/fill.js";
import { traceLocation } from "../disk/trace.js";
import { ENCODING_CHECKS, type EncodingOptions } from "../encode/snapshot-encoder.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { Turns } from "../local/locks.js";
import { writeSmallObject } from "../location/small-object.js";
import { WORK_CHECKS, type WorkOptions } from "../workers/pool.js";
import { type Generation, generationOf } from "./generation.js";
import { HOOK_CHECKS, type HookOptions, type Hooks, hooksOf, whileFrozen } from "./hooks.js";
import type { Lease } from "./lease.js";
import type { ImageNote, LocalImages } from "./local-images.js";
import {
  headOf,
  MAX_LABEL_LENGTH,
  type NewGeneration,
  type Pointer,
  withGeneration,
} from "./pointer.js";
import { saveRegularly } from "./regular-saves.js";
import { type Snapshots, storedOf } from "./snapshots.js";

/** Options of `DiskStore.attach`. */
export interface AttachOptions extends WorkOptions, FillOptions, HookOptions {
  /** Whether to attach a disk that another host has attached, which then can no longer save it. Default: `false`. */
  readonly steal?: boolean | undefined;
  /** How often the disk is saved if it has changed, 1 second or more. Default: only when it is detached. */
  readonly saveEvery?: Duration | undefined;
}

/** Options of `AttachedDisk.save`. */
export interface SaveDiskOptions extends WorkOptions, Pick<EncodingOptions, "level">, HookOptions {
  /** A note on the generation, at most 256 characters. Default: none. */
  readonly label?: string | undefined;
}

/** Options of `AttachedDisk.detach`. */
export interface DetachOptions extends SaveDiskOptions {
  /** Whether to save what has changed; `false` discards it. Default: `true`. */
  readonly save?: boolean | undefined;
}

/** The checks of {@link AttachOptions}. */
export const ATTACH_CHECKS: Checks<AttachOptions> = {
  ...WORK_CHECKS,
  ...FILL_CHECKS,
  ...HOOK_CHECKS,
  steal: BOOLEAN,
  saveEvery: duration(1_000),
};

const SAVE_DISK_CHECKS: Checks<SaveDiskOptions> = {
  ...WORK_CHECKS,
  ...HOOK_CHECKS,
  level: ENCODING_CHECKS.level,
  label: text(MAX_LABEL_LENGTH),
};

const DETACH_CHECKS: Checks<DetachOptions> = { ...SAVE_DISK_CHECKS, save: BOOLEAN };

/** What connects an attached disk to its store. */
interface Attachment {
  readonly name: string;
  readonly lease: Lease;
  readonly snapshots: Snapshots;
  readonly images: LocalImages;
  /** Where its local image comes from. */
  readonly note: ImageNote;
  readonly hooks: Hooks;
  /** The interval of automatic saves, in milliseconds, if there are any. */
  readonly saveEvery: number | undefined;
  /** Called when the disk no longer needs the store. */
  readonly onDetached: () => void;
}

/** The result of a save of an attached disk. */
export interface SavedGeneration extends Generation {
  /** For how many milliseconds writes had to wait. */
  readonly pause: number;
  /** The number of bytes of the image in blocks of 4 KiB that had changed. */
  readonly changedBytes: number;
  /** The duration of the call, in milliseconds. */
  readonly duration: number;
}

/** The options of a save, with its hooks. */
type CheckedSave = SaveDiskOptions & { readonly hooks: Hooks };

/** Changes the pointer. */
type Commit = (change: (pointer: Pointer) => Pointer) => Promise<void>;

/** A disk of a store that this process alone may save. Returned by `DiskStore.attach`. */
export class AttachedDisk extends BlockDevice {
  /** The name of the disk. */
  readonly name: string;
  readonly #attachment: Attachment;
  readonly #ended = new AbortController();
  readonly #saving: Promise<void>;
  #detaching: Promise<void> | undefined;
  /** Orders saves: a detach must wait for the changes of a save that is running. */
  readonly #turns = new Turns();
  #isClosed = false;
  /** Whether the last save failed, but the store may still have it. */
  #isUncertain = false;

  /** @internal */
  constructor(open: OpenDisk, attachment: Attachment) {
    super(open);
    this.name = attachment.name;
    this.#attachment = attachment;
    this.#saving = this.#saveRegularly();
  }

  /** The generation that was attached or saved last. */
  get generation(): Generation {
    const { snapshots, lease } = this.#attachment;
    return generationOf(snapshots, lease.pointer, headOf(lease.pointer));
  }

  /** How often the disk was attached, this time included. */
  get epoch(): number {
    return this.#attachment.lease.pointer.epoch;
  }

  /**
   * Aborted when another host has taken the disk, or it was removed. It can still be read and written to, but not saved
   * under its name. After {@link detach}, `DiskStore.recover` saves its image as a new disk.
   */
  get lost(): AbortSignal {
    return this.#attachment.lease.lost;
  }

  /**
   * Saves the disk as a new generation, while it is in use. The generation has every write that was acknowledged before
   * the call, and none that began after the changes were copied. If nothing has changed and there is no label, returns
   * the last generation.
   *
   * A save that fails loses nothing: the next one has its changes, too.
   *
   * @throws {SnapshotError} `ERR_LEASE_LOST`, `ERR_HOOK`, `ERR_STORE`, `ERR_TARGET`, `ERR_DISK_CLOSED`, `ERR_ARGUMENT`
   */
  async save(options: SaveDiskOptions = {}): Promise<SavedGeneration> {
    const checked = this.#withHooks(checkOptions(options, SAVE_DISK_CHECKS));
    return this.#turns.run(() => this.#save(checked, false));
  }

  /**
   * Closes the servers of the disk, saves the changes, releases the disk, and removes its local image.
   *
   * If saving fails, the disk stays attached: call it again. If the disk was lost, it is closed, and its image stays if it
   * has unsaved changes.
   *
   * @throws {SnapshotError} what {@link save} throws; `ERR_DISK_CLOSED` if the disk was written to after the last save: then
   *   the image stays, too
   */
  detach(options: DetachOptions = {}): Promise<void> {
    this.#detaching ??= this.#detach(options).catch((error: unknown) => {
      if (!this.#isClosed) this.#detaching = undefined;
      throw error;
    });
    return this.#detaching;
  }

  /** Calls {@link detach}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.detach();
  }

  #withHooks(options: SaveDiskOptions): CheckedSave {
    return { ...options, hooks: hooksOf(options, this.#attachment.hooks) };
  }

  async #detach(options: DetachOptions): Promise<void> {
    const { lease, images, note } = this.#attachment;
    const { save = true, ...saving } = checkOptions(options, DETACH_CHECKS);
    const checked = this.#withHooks(saving);
    await this.closeServers();
    let lost: SnapshotError | undefined;
    try {
      await this.#turns.run(async () => {
        if (save) await this.#save(checked, true);
        else await lease.release();
      });
    } catch (error) {
      if (!(error instanceof SnapshotError && error.code === "ERR_LEASE_LOST")) throw error;
      lost = error;
    }
    await this.#close();
    if (lost !== undefined) await lease.abandon();
    // Without unsaved changes, there is nothing to recover.
    if (save && this.changedBytes > 0) throw lost ?? this.#writtenTo();
    await images.remove(this.image, note);
  }

  /** Returns the error for writes that were too late for the last save. */
  #writtenTo(): SnapshotError {
    const message = `${this.name} was written to while it was detached; recover ${this.image} as a new disk`;
    return new SnapshotError("ERR_DISK_CLOSED", message);
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#ended.abort();
    try {
      await this.closeDisk();
      await this.#saving;
    } finally {
      this.#attachment.onDetached();
    }
  }

  /** Saves the disk. @param isLast whether to release it, too */
  async #save(options: CheckedSave, isLast: boolean): Promise<SavedGeneration> {
    const begun = performance.now();
    const { lease } = this.#attachment;
    const { changedBytes } = this;
    this.lost.throwIfAborted();
    if (this.#isClosed) throw new SnapshotError("ERR_DISK_CLOSED", `${this.name} was detached`);
    const commit: Commit = (change) => (isLast ? lease.release(change) : lease.commit(change));
    const pause =
      changedBytes > 0
        ? await this.#saveChanges(options, commit)
        : await this.#saveUnchanged(options, isLast ? commit : undefined);
    const duration = performance.now() - begun;
    const generation = this.generation;
    if (changedBytes > 0) {
      const { number, digest, bytes } = generation;
      const saved = { generation: number, digest, bytes, changedBytes, pause, duration };
      emit("hedgerow:store:save", { ...this.#event, ...saved });
    }
    return { ...generation, pause, changedBytes, duration };
  }

  /** Saves a new snapshot. Returns for how many milliseconds writes had to wait. */
  async #saveChanges({ hooks, label, ...options }: CheckedSave, commit: Commit): Promise<number> {
    const { snapshots, lease } = this.#attachment;
    const { signal } = options;
    const { pause } = await snapshots.create((snapshot) =>
      this.open.saver.save(
        {
          location: snapshots.newLocation,
          write: snapshot.write,
          whileFrozen: (copy) => whileFrozen(hooks, copy, signal),
          publish: async (info) => {
            const stored = storedOf(info);
            // The disk may have read all of them from a cache: the store may lack one.
            const checking = snapshots.checkAll(stored.bases, signal);
            checking.catch(() => {});
            const published = await snapshot.publish(info, signal);
            await checking.catch(async (error: unknown) => {
              // A collection deletes it only if another host has taken the disk: report that error instead.
              await lease.commit((pointer) => pointer);
              throw error;
            });
            // An uncertain save may be in the store, and the generation that this one continues may then have expired.
            if (this.#isUncertain) await snapshots.adoptAll(stored.bases, signal);
            const time = Math.round(await snapshots.objects.now());
            const storing = this.#storeTrace(info.digest);
            this.#isUncertain = true;
            await commit((pointer) => withNext(pointer, { ...stored, time, label }));
            this.#isUncertain = false;
            await storing;
            return published;
          },
        },
        options,
      ),
    );
    return pause;
  }

  /** Adds a generation of the last snapshot if it has a label. Also writes the pointer to end the lease. */
  async #saveUnchanged({ label }: CheckedSave, release: Commit | undefined): Promise<number> {
    const { snapshots, lease } = this.#attachment;
    if (label === undefined) {
      await release?.((pointer) => pointer);
      return 0;
    }
    const commit = release ?? ((change) => lease.commit(change));
    const time = Math.round(await snapshots.objects.now());
    await commit((pointer) => {
      const { digest, bases } = headOf(pointer);
      return withNext(pointer, { digest, bases, label, time, sizes: {} });
    });
    return 0;
  }

  /** Stores the trace beside a snapshot, for the next attachment. */
  async #storeTrace(digest: string): Promise<void> {
    const { snapshots } = this.#attachment;
    const location = traceLocation(snapshots.location(digest));
    const { trace } = this;
    if (location === undefined || trace.ranges.length === 0) return;
    const text = Buffer.from(`${JSON.stringify(trace)}\n`);
    // A trace only saves time, so ignore errors.
    await writeSmallObject(location, text, { ...this.open.options, signal: undefined }).catch(
      () => {},
    );
  }

  async #saveRegularly(): Promise<void> {
    const { saveEvery } = this.#attachment;
    if (saveEvery === undefined) return;
    const saved = {
      hasChanged: () => this.changedBytes > 0 && !this.lost.aborted,
      save: () => this.save({}),
      onFailure: (error: unknown) => {
        const { code, message } = error as SnapshotError;
        emit("hedgerow:store:save-failed", { ...this.#event, code, reason: message });
      },
    };
    await saveRegularly(saveEvery, saved, this.#ended.signal);
  }

  get #event() {
    return { store: this.#attachment.snapshots.objects.name, name: this.name };
  }
}

/** Returns the pointer after a save. Keeps the generation that was attached, which the host reads. */
function withNext(pointer: Pointer, generation: NewGeneration): Pointer {
  const pinned = pointer.lease?.generation;
  return withGeneration(pointer, generation, ({ number }) => number === pinned);
}
