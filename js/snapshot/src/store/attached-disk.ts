import {
  BOOLEAN,
  type Checks,
  checkOptions,
  type Duration,
  duration,
  invalid,
  text,
} from "../check.js";
import { BlockDevice, type OpenDisk } from "../disk/disk.js";
import { FILL_CHECKS, type FillOptions } from "../disk/fill.js";
import { inFullIfTooLarge } from "../disk/save-disk.js";
import { traceLocation } from "../disk/trace.js";
import { ENCODING_CHECKS, type EncodingOptions } from "../encode/snapshot-encoder.js";
import { messageOf, SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { Turns } from "../local/locks.js";
import { writeSmallObject } from "../location/small-object.js";
import { WORK_CHECKS, type WorkOptions } from "../workers/pool.js";
import { type Generation, generationOf } from "./generation.js";
import { HOOK_CHECKS, type HookOptions, type Hooks, hooksOf } from "./hooks.js";
import { JointSave, type SavedVolumes, type SaveWork } from "./joint-save.js";
import type { Lease } from "./lease.js";
import type { ImageNote, LocalImages } from "./local-images.js";
import { copyOfMetadata, METADATA } from "./new-disk.js";
import {
  type Content,
  contentOf,
  headOf,
  MAX_LABEL_LENGTH,
  type NewGeneration,
  type Pointer,
  withGeneration,
} from "./pointer.js";
import { saveRegularly } from "./regular-saves.js";
import { type Snapshots, type StoredSnapshot, storedOf } from "./snapshots.js";
import type { DiskVolume, Volume } from "./volume.js";

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
  /**
   * What the generation carries, such as what its memory needs: JSON of at most 4 KiB. Default: nothing.
   */
  readonly metadata?: unknown;
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
  metadata: METADATA,
};

const DETACH_CHECKS: Checks<DetachOptions> = { ...SAVE_DISK_CHECKS, save: BOOLEAN };

/** The name of the disk itself among its volumes. */
const ROOT = "";

/** What connects an attached disk to its store. */
interface Attachment {
  readonly name: string;
  readonly volumes: ReadonlyMap<string, Volume>;
  /** Those of them that are disks. */
  readonly disks: ReadonlyMap<string, OpenDisk>;
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
  /** Unlock the volumes that are files. */
  readonly closeFiles: readonly (() => Promise<void>)[];
}

/** The result of a save of an attached disk. */
export interface SavedGeneration extends Generation {
  /** For how many milliseconds writes had to wait. */
  readonly pause: number;
  /** The number of bytes of the disk and its volumes in blocks of 4 KiB that had changed when the call began. */
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
  readonly #volumes: ReadonlyMap<string, Volume>;
  /** The disk itself, and its volumes that are disks. */
  readonly #disks: ReadonlyMap<string, OpenDisk>;
  readonly #ended = new AbortController();
  readonly #saving: Promise<void>;
  #detaching: Promise<void> | undefined;
  #storing: Promise<void> | undefined;
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
    this.#volumes = attachment.volumes;
    this.#disks = new Map([[ROOT, open], ...attachment.disks]);
    this.#saving = this.#saveRegularly();
  }

  /** The generation that was attached or saved last. */
  get generation(): Generation {
    const { snapshots, lease } = this.#attachment;
    return generationOf(snapshots, lease.pointer, headOf(lease.pointer));
  }

  /** The names of its further volumes. */
  get volumes(): string[] {
    return [...this.#volumes.keys()];
  }

  /** Returns a further volume. @throws {SnapshotError} `ERR_ARGUMENT` if there is none of this name */
  volume(name: string): Volume {
    const found = this.#volumes.get(name);
    if (found !== undefined) return found;
    throw invalid("name", `one of ${this.volumes.join(", ") || "no volumes"}`, String(name));
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
   * @throws {SnapshotError} `ERR_LEASE_LOST`, `ERR_HOOK`, `ERR_STORE`, `ERR_TARGET`, `ERR_DISK_CLOSED`, `ERR_ARGUMENT`;
   *   `ERR_IMAGE` if a write to memory has failed
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
    const metadata = copyOfMetadata(options.metadata);
    return { ...options, metadata, hooks: hooksOf(options, this.#attachment.hooks) };
  }

  async #detach(options: DetachOptions): Promise<void> {
    const { lease, images, note } = this.#attachment;
    const { save = true, ...saving } = checkOptions(options, DETACH_CHECKS);
    const checked = this.#withHooks(saving);
    await Promise.all([this.closeServers(), ...this.#diskVolumes.map((one) => one.closeServers())]);
    this.#storing ??= this.#storeFirstTraces();
    let lost: SnapshotError | undefined;
    try {
      await this.#turns.run(async () => {
        if (save) await this.#save(checked, true);
        else await lease.release();
        this.#isClosed = true;
      });
    } catch (error) {
      if (!(error instanceof SnapshotError && error.code === "ERR_LEASE_LOST")) throw error;
      lost = error;
    }
    await this.#storing;
    // Without unsaved changes, there is nothing to recover. Memory cannot be.
    const isMemory = (name: string) => this.#volumes.get(name)?.kind === "memory";
    const recoverable = [...this.#disks].filter(([name]) => !isMemory(name));
    const isSaved = () => !save || this.#changedIn(recoverable) === 0;
    for (const { removeIf } of this.#disks.values()) removeIf(isSaved);
    const failure = await this.#close().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (lost !== undefined) await lease.abandon();
    if (!isSaved()) throw lost ?? failure ?? this.#writtenTo();
    await images.remove(this.image, note);
    if (lost !== undefined && save && this.#hasChanged()) throw lost;
  }

  /** Returns whether anything was written to since the last save. */
  #hasChanged(): boolean {
    if (this.#changedIn(this.#disks) > 0) return true;
    return [...this.#volumes.values()].some((one) => one.kind === "file" && one.hasChanged);
  }

  /** Returns the error for writes that were too late for the last save. */
  #writtenTo(): SnapshotError {
    const message = `${this.name} was written to while it was detached; recover ${this.image} as a new disk`;
    return new SnapshotError("ERR_DISK_CLOSED", message);
  }

  /** Closes the images. Rejects with the first error, when all are closed. */
  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#ended.abort();
    const { closeFiles, onDetached } = this.#attachment;
    const volumes = this.#diskVolumes.map((one) => one.closeDisk());
    const ends = await Promise.allSettled([...volumes, ...closeFiles.map((close) => close())]);
    // Last: while it is locked, no process looks at those of its volumes.
    ends.push(...(await Promise.allSettled([this.closeDisk()])));
    await this.#saving;
    onDetached();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  /** Saves the disk and its volumes. @param isLast whether to release it, too */
  async #save(options: CheckedSave, isLast: boolean): Promise<SavedGeneration> {
    const begun = performance.now();
    const { lease } = this.#attachment;
    if (this.#isClosed) throw new SnapshotError("ERR_DISK_CLOSED", `${this.name} was detached`);
    this.lost.throwIfAborted();
    const commit: Commit = (change) => (isLast ? lease.release(change) : lease.commit(change));
    const { number: before } = headOf(lease.pointer);
    const changedBytes = this.#changedIn(this.#disks);
    // Memory and files may change as late as in the hook.
    const mayChange = changedBytes > 0 || this.#volumes.size > 0;
    const pause = mayChange
      ? await inFullIfTooLarge(() => this.#saveTogether(options, commit, isLast))
      : await this.#saveUnchanged(options, isLast ? commit : undefined);
    const duration = performance.now() - begun;
    const generation = this.generation;
    if (mayChange && generation.number !== before) {
      const { number, digest, bytes } = generation;
      const saved = { generation: number, digest, bytes, changedBytes, pause, duration };
      emit("hedgerow:store:save", { ...this.#event, ...saved });
    }
    return { ...generation, pause, changedBytes, duration };
  }

  /**
   * Saves the disk and its volumes at one moment: all of them or none. Returns for how many milliseconds writes had to
   * wait.
   */
  async #saveTogether(options: CheckedSave, commit: Commit, isLast: boolean): Promise<number> {
    const { hooks, label, metadata, onProgress, ...work } = options;
    const { snapshots, lease } = this.#attachment;
    const publish = async (saved: SavedVolumes) => {
      if (saved.size === 0) {
        await this.#saveUnchanged(options, isLast ? commit : undefined);
        return;
      }
      const time = Math.round(await snapshots.objects.now());
      const storing = [...saved].map(([volume, { digest }]) => this.#storeTrace(volume, digest));
      this.#isUncertain = true;
      await commit((pointer) =>
        withNext(pointer, { ...withSaved(headOf(pointer), saved), time, label, metadata }),
      );
      this.#isUncertain = false;
      await Promise.all(storing);
    };
    const files = [...this.#volumes.values()].filter((volume) => volume.kind === "file");
    const disks = [...this.#disks];
    const count = disks.length + files.length;
    const joint = new JointSave(count, hooks, publish, work.signal);
    const { signal } = joint;
    const pauses = await joint.run([
      ...disks.map(([name, open]) => () => {
        const progress = name === ROOT ? { onProgress } : {};
        return this.#saveDisk(joint, name, open, { ...work, ...progress, signal });
      }),
      ...files.map((file) => async () => {
        const { volumes = {} } = headOf(lease.pointer);
        // What the store has of an uncertain save is not known.
        const last = this.#isUncertain ? undefined : volumes[file.name]?.digest;
        await file.saveWith(joint, snapshots, { ...this.open.options, ...work, signal }, last);
        return 0;
      }),
    ]);
    return Math.max(...pauses);
  }

  /** Saves one of the disks together with the others. Returns for how many milliseconds writes had to wait. */
  async #saveDisk(
    joint: JointSave,
    name: string,
    { saver, engine }: OpenDisk,
    work: SaveWork,
  ): Promise<number> {
    const { snapshots, lease } = this.#attachment;
    const { signal } = work;
    const isMemory = this.#volumes.get(name)?.kind === "memory";
    const checkWritten = () => {
      if (isMemory && engine.failedWrite !== undefined) throw lacksWrites(name, engine.failedWrite);
    };
    checkWritten();
    const { pause } = await snapshots.create((snapshot) =>
      saver.save(
        {
          location: snapshots.newLocation,
          write: snapshot.write,
          whileFrozen: (copy) =>
            joint.copy(async () => {
              const copied = await copy();
              // By now, all writes of the machine are answered.
              checkWritten();
              return copied;
            }),
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
            await joint.publish(name, stored);
            return published;
          },
          unchanged: () => joint.unchanged(),
        },
        work,
      ),
    );
    return pause;
  }

  /** Adds a generation of the last snapshots if it has a label or metadata. Also writes the pointer to end the lease. */
  async #saveUnchanged(
    { label, metadata }: CheckedSave,
    release: Commit | undefined,
  ): Promise<number> {
    const { snapshots, lease } = this.#attachment;
    if (label === undefined && metadata === undefined) {
      await release?.((pointer) => pointer);
      return 0;
    }
    const commit = release ?? ((change) => lease.commit(change));
    const time = Math.round(await snapshots.objects.now());
    await commit((pointer) => {
      const content = { ...contentOf(headOf(pointer)), metadata };
      return withNext(pointer, { ...content, label, time, sizes: {} });
    });
    return 0;
  }

  /** Stores the traces of the snapshots that were attached, if they have none: their forks begin alike. */
  async #storeFirstTraces(): Promise<void> {
    // A snapshot of a disk that was lost may have been collected.
    if (this.lost.aborted) return;
    const storing = [...this.#disks].map(async ([volume, { info, lacksTrace }]) => {
      if (lacksTrace()) await this.#storeTrace(volume, info.digest, false);
    });
    await Promise.all(storing);
  }

  /** Stores the trace of a volume beside its snapshot, for the next attachment. */
  async #storeTrace(volume: string, digest: string, overwrite = true): Promise<void> {
    const { snapshots } = this.#attachment;
    const location = traceLocation(snapshots.location(digest));
    const trace = this.#disks.get(volume)?.recorder.trace;
    if (location === undefined || trace === undefined || trace.ranges.length === 0) return;
    const text = Buffer.from(`${JSON.stringify(trace)}\n`);
    // A trace only saves time, so ignore errors.
    const options = { ...this.open.options, signal: undefined };
    await writeSmallObject(location, text, options, overwrite).catch(() => {});
  }

  /** Returns the number of bytes of disks that were written since the last save. */
  #changedIn(disks: Iterable<readonly [string, OpenDisk]>): number {
    let sum = 0;
    for (const [, { saver }] of disks) sum += saver.changedBytes;
    return sum;
  }

  async #saveRegularly(): Promise<void> {
    const { saveEvery } = this.#attachment;
    if (saveEvery === undefined) return;
    const saved = {
      hasChanged: () => this.#changedIn(this.#disks) > 0 && !this.lost.aborted,
      save: () => this.save({}),
      onFailure: (error: unknown) => {
        const { code, message } = error as SnapshotError;
        emit("hedgerow:store:save-failed", { ...this.#event, code, reason: message });
      },
    };
    await saveRegularly(saveEvery, saved, this.#ended.signal);
  }

  get #diskVolumes(): DiskVolume[] {
    return [...this.#volumes.values()].filter((volume) => volume.kind !== "file");
  }

  get #event() {
    return { store: this.#attachment.snapshots.objects.name, name: this.name };
  }
}

/** Returns the error for memory that lacks bytes of its machine: the system drops pages that it could not write back. */
function lacksWrites(name: string, cause: unknown): SnapshotError {
  const message = `the volume ${name} lacks bytes of its machine, because a write has failed (${messageOf(cause)}): the last save is whole`;
  return new SnapshotError("ERR_IMAGE", message, { cause, field: name });
}

/** Returns the pointer after a save. Keeps the generation that was attached, which the host reads. */
function withNext(pointer: Pointer, generation: NewGeneration): Pointer {
  const pinned = pointer.lease?.generation;
  return withGeneration(pointer, generation, ({ number }) => number === pinned);
}

/** Returns what a generation has after a save of some of its volumes. */
function withSaved(before: Content, saved: SavedVolumes) {
  const { digest, bases } = saved.get(ROOT) ?? before;
  const volumes = Object.entries(before.volumes ?? {}).map(([name, volume]) => {
    const found = saved.get(name);
    const { kind } = volume;
    const stored = found && { digest: found.digest, bases: found.bases };
    return [name, stored ? { kind, size: found.imageSize, ...stored } : volume] as const;
  });
  const sizes = Object.assign({}, ...[...saved.values()].map((one) => one.sizes));
  const further = before.volumes && { volumes: Object.fromEntries(volumes) };
  return { digest, bases, ...further, sizes: sizes as StoredSnapshot["sizes"] };
}
