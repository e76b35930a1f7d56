import {
  type Checks,
  checkInteger,
  checkOptions,
  DIGEST,
  integer,
  invalid,
  millisecondsOf,
  SIGNAL,
  text,
} from "../check.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { localPath, safeLocation } from "../location/location.js";
import { verifySnapshot } from "../verify-snapshot.js";
import { attach } from "./attach.js";
import { ATTACH_CHECKS, type AttachedDisk, type AttachOptions } from "./attached-disk.js";
import {
  type Collected,
  type CollectOptions,
  collect,
  collectionOf,
  type Explanation,
  explain,
} from "./collect.js";
import { type ExpiredGeneration, type ExpireOptions, expire } from "./expire.js";
import { type Generation, generationOf } from "./generation.js";
import { hooksOf } from "./hooks.js";
import { checkDetached, isAttached } from "./lease.js";
import type { UnsavedImage } from "./local-images.js";
import {
  checkNewDisk,
  createForks,
  type NewDiskOptions,
  newPointer,
  recover,
  storeDisk,
} from "./new-disk.js";
import { openStore, type Store, type StoreOptions } from "./open-store.js";
import {
  checkName,
  contentOf,
  headOf,
  MAX_LABEL_LENGTH,
  objectsOf,
  type Pointer,
  type PointerGeneration,
  snapshotsOf,
  withGeneration,
  withGenerations,
} from "./pointer.js";
import { eachOf, forMany, POINTERS_AT_A_TIME } from "./pointers.js";

/** Options of `DiskStore.fork` and `DiskStore.verify`. */
export interface GenerationOptions {
  /** The number of a generation. Default: the last one. */
  readonly generation?: number | undefined;
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `DiskStore.list`. */
export interface ListOptions {
  /** The beginning of the names. Default: all names. */
  readonly prefix?: string | undefined;
  /** The name after which the list begins. Default: from the first. */
  readonly after?: string | undefined;
  /** Aborts the list. */
  readonly signal?: AbortSignal | undefined;
}

const GENERATION_CHECKS: Checks<GenerationOptions> = { generation: integer(1), signal: SIGNAL };

const LIST_CHECKS: Checks<ListOptions> = {
  // A prefix that no name can have must not lead out of the folder.
  prefix: (name, prefix) => prefix === "" || checkName(name, prefix),
  after: checkName,
  signal: SIGNAL,
};

/** Options of calls that have no others. */
export interface StoreCallOptions {
  /** Aborts the call. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

const CALL_CHECKS: Checks<StoreCallOptions> = { signal: SIGNAL };

const SALVAGE_CHECKS = { ...CALL_CHECKS, label: text(MAX_LABEL_LENGTH) };

/** The state of a disk in a store. Returned by `DiskStore.stat`. */
export interface DiskStatus {
  /** The name of the disk. */
  readonly name: string;
  /** The size of the disk, in bytes. */
  readonly size: number;
  /** The number of generations. */
  readonly generations: number;
  /** The last generation. */
  readonly last: Generation;
  /** The number of bytes of the snapshots that this disk has saved, without those of generations that have expired. */
  readonly ownBytes: number;
  /** The number of bytes of all other snapshots that it needs: other disks may need them, too. */
  readonly sharedBytes: number;
  /** The attachment, if there is one. */
  readonly attached: Attachment | undefined;
}

/** The attachment of a disk to a host. */
export interface Attachment {
  /** The name of the host. */
  readonly owner: string;
  /** How often the disk was attached, this time included. */
  readonly epoch: number;
}

/**
 * A store of named disks, in an object service or in a folder. One host at a time attaches a disk, saves it as a new
 * generation while it is in use, and detaches it; then any host may attach it.
 *
 * All state is in the store: a host that dies loses nothing that was saved. docs/store.md describes the objects.
 *
 * Attaching needs Linux on x64 or arm64 and the optional package `koffi`; so does a store in a folder.
 *
 * @example
 * const store = await DiskStore.open("disks");
 * await store.create("alice", { size: 64 * 2 ** 20 });
 * const disk = await store.attach("alice");
 * await disk.write(0, Buffer.from("hello"));
 * await disk.detach();
 * await store.close();
 */
export class DiskStore {
  /** The URL or the path of the store, without secrets. */
  readonly location: string;
  readonly #store: Store;
  /** The number of disks that are attached, or about to be. */
  #attached = 0;
  #isClosed = false;

  private constructor(store: Store) {
    this.#store = store;
    this.location = store.objects.name;
  }

  /**
   * Opens a store, and creates it if it is missing, unless `create` is false.
   *
   * An object service must write on condition (`If-None-Match`, `If-Match`, or generations): this is tested with a
   * temporary object.
   *
   * @param location the path of a folder, or the URL of an object service: `s3:`, `gs:` or `az:`
   * @throws {SnapshotError} `ERR_STORE`, `ERR_ARGUMENT`, `ERR_TARGET`
   */
  static async open(location: string | URL, options: StoreOptions = {}): Promise<DiskStore> {
    return new DiskStore(await openStore(location, options));
  }

  /**
   * Creates a disk with the content of a snapshot or of a disk image, or of zeros. It appears when all of it is stored.
   *
   * @param name 1 to 128 letters, digits, `.`, `_` or `-`, of which the first is a letter or digit
   * @throws {SnapshotError} `ERR_DISK_EXISTS`, `ERR_STORE`, `ERR_ARGUMENT`, and what `createSnapshot` and
   *   `restoreSnapshot` throw
   */
  async create(name: string, options: NewDiskOptions): Promise<Generation> {
    checkName("name", name);
    options = checkNewDisk(options);
    const { signal } = options;
    signal?.throwIfAborted();
    const { pointers, snapshots, transfer } = this.#open;
    if ((await pointers.find(name, signal)) !== undefined) throw this.#exists(name);
    const first = await storeDisk(snapshots, options, transfer);
    const pointer = newPointer(first, await this.#now());
    await pointers.create(name, pointer, signal);
    return this.#generation(pointer);
  }

  /**
   * Attaches a disk: until it is detached, no other host can save it, unless it takes the lease. It can be read and
   * written to at once, and its data arrives in the background.
   *
   * @throws {SnapshotError} `ERR_ATTACHED`, `ERR_NO_DISK`, `ERR_STORE`, and what `openSnapshot` throws
   */
  async attach(name: string, options: AttachOptions = {}): Promise<AttachedDisk> {
    checkName("name", name);
    const {
      steal = false,
      trace,
      saveEvery,
      freeze,
      thaw,
      hookTimeout,
      ...opening
    } = checked(options, ATTACH_CHECKS);
    const { images, snapshots, transfer } = this.#open;
    await images.open();
    this.#attached += 1;
    const onDetached = () => {
      this.#attached -= 1;
      this.#closeUnused();
    };
    try {
      return await attach(this.#open, {
        name,
        steal,
        trace,
        onDetached,
        hooks: hooksOf({ freeze, thaw, hookTimeout }),
        saveEvery: saveEvery === undefined ? undefined : millisecondsOf(saveEvery),
        options: { ...transfer, ...opening, resolve: snapshots.resolve },
      });
    } catch (error) {
      onDetached();
      throw error;
    }
  }

  /**
   * Creates disks that begin with a generation of another disk. Copies no data. If one of the names is in use, removes
   * the disks that it has created.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_DISK_EXISTS`, `ERR_STORE`, `ERR_ARGUMENT`
   */
  async fork(
    name: string,
    forks: string | readonly string[],
    options: GenerationOptions = {},
  ): Promise<void> {
    checkName("name", name);
    const names = namesOf(forks);
    const { generation: number, signal } = checked(options, GENERATION_CHECKS);
    const { pointers, snapshots } = this.#open;
    const { pointer } = await pointers.read(name, signal);
    const generation = this.#find(name, pointer, number);
    // If it expired since, a collection may have deleted it.
    await snapshots.adoptAll(objectsOf(generation), signal);
    const parent = { name, generation: generation.number };
    const { size, objects: sizes } = withGenerations(pointer, [generation]);
    await createForks(pointers, names, { ...contentOf(generation), size, sizes, parent }, signal);
  }

  /**
   * Adds an earlier generation of a detached disk again, as the last one. Removes nothing. Fails if one of the
   * snapshots that the generation needs is missing.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_ATTACHED`, `ERR_STORE`, `ERR_ARGUMENT`
   */
  async rollback(
    name: string,
    generation: number,
    options: StoreCallOptions = {},
  ): Promise<Generation> {
    checkName("name", name);
    const { signal } = checked(options, CALL_CHECKS);
    checkInteger("generation", generation, 1, Number.MAX_SAFE_INTEGER);
    const { pointers, snapshots } = this.#open;
    const time = Math.round(await this.#now());
    const { pointer } = await pointers.update(
      name,
      async (known) => {
        await checkDetached(pointers, name, known, "detach it first");
        const found = this.#find(name, known.pointer, generation);
        await snapshots.adoptAll(objectsOf(found), signal);
        const again = { ...contentOf(found), time, sizes: {} };
        // A host that was cut off must not save over it.
        return withGeneration({ ...known.pointer, lease: null }, again);
      },
      { signal },
    );
    return this.#generation(pointer);
  }

  /** Yields the generations of a disk, oldest first. @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE` */
  async *history(name: string, options: StoreCallOptions = {}): AsyncGenerator<Generation> {
    checkName("name", name);
    const { signal } = checked(options, CALL_CHECKS);
    const { pointer } = await this.#open.pointers.read(name, signal);
    for (const generation of pointer.generations)
      yield generationOf(this.#open.snapshots, pointer, generation);
  }

  /** Yields the names of all disks, in order. It reads a page of 1,000 at a time. @throws {SnapshotError} `ERR_STORE` */
  async *list(options: ListOptions = {}): AsyncGenerator<string> {
    const { prefix, after, signal } = checked(options, LIST_CHECKS);
    yield* this.#open.pointers.names({ prefix, after }, signal);
  }

  /** Returns the state of a disk. @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE` */
  async stat(name: string, options: StoreCallOptions = {}): Promise<DiskStatus> {
    checkName("name", name);
    const { signal } = checked(options, CALL_CHECKS);
    const { pointers } = this.#open;
    const known = await pointers.read(name, signal);
    const { pointer } = known;
    const { generations, objects, lease, epoch, size } = pointer;
    const later = generations.filter(({ number }) => number > 1);
    const own = new Set(later.flatMap(snapshotsOf).map(({ digest }) => digest));
    const begun = new Set(generations.filter(({ number }) => number === 1).flatMap(objectsOf));
    let [ownBytes, sharedBytes] = [0, 0];
    for (const [digest, bytes] of Object.entries(objects))
      if (own.has(digest) && !begun.has(digest)) ownBytes += bytes;
      else sharedBytes += bytes;
    const isHeld = await isAttached(pointers, known);
    return {
      name,
      size,
      generations: generations.length,
      ownBytes,
      sharedBytes,
      last: this.#generation(pointer),
      attached: isHeld && lease !== null ? { owner: lease.owner, epoch } : undefined,
    };
  }

  /**
   * Removes old generations, but never the last one of a disk, one that a fork began from, or one that is attached.
   * Their snapshots stay until {@link collect} deletes them.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE`, `ERR_ARGUMENT`
   */
  async expire(options: ExpireOptions): Promise<ExpiredGeneration[]> {
    return expire(this.#open.pointers, options);
  }

  /**
   * Marks snapshots that no generation needs, deletes those that have been marked for the grace period, and removes
   * leftovers of killed processes, also local images without changes. It may run at any time, on several hosts at once.
   *
   * @throws {SnapshotError} `ERR_STORE`, `ERR_ARGUMENT`
   */
  async collect(options: CollectOptions = {}): Promise<Collected> {
    const collection = collectionOf(options);
    const { pointers, snapshots, images } = this.#open;
    const collected = await collect(pointers, snapshots, collection);
    if (collection.dryRun) return collected;
    await images.clean(collection.grace);
    const { deleted, bytes, duration } = collected;
    const event = { store: this.location, deleted: deleted.length, bytes, duration };
    emit("hedgerow:store:collect", event);
    return collected;
  }

  /** Returns the generations that need a snapshot, and its size. @throws {SnapshotError} `ERR_STORE`, `ERR_ARGUMENT` */
  async explain(digest: string, options: StoreCallOptions = {}): Promise<Explanation> {
    const { signal } = checked(options, CALL_CHECKS);
    DIGEST("digest", digest);
    const { pointers, snapshots } = this.#open;
    return explain(pointers, snapshots, digest.toLowerCase(), forMany(signal));
  }

  /**
   * Removes a detached disk with all its generations. Its forks stay.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_ATTACHED`, `ERR_STORE`
   */
  async remove(name: string, options: StoreCallOptions = {}): Promise<void> {
    checkName("name", name);
    const { signal } = checked(options, CALL_CHECKS);
    const { pointers } = this.#open;
    const { id } = (await pointers.read(name, signal)).pointer;
    for (;;) {
      const known = await pointers.find(name, signal);
      // If the first attempt has removed it, another disk may have the name already.
      if (known?.pointer.id !== id) return;
      await checkDetached(pointers, name, known, "detach it first");
      if (await pointers.remove(name, known)) return;
    }
  }

  /**
   * Verifies a disk: every byte of one generation with its volumes, and the sizes of all snapshots that its generations need.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE`, and what `verifySnapshot` throws
   */
  async verify(name: string, options: GenerationOptions = {}): Promise<Generation> {
    checkName("name", name);
    const { generation: number, signal } = checked(options, GENERATION_CHECKS);
    const { pointers, snapshots, transfer } = this.#open;
    const { pointer } = await pointers.read(name, signal);
    const generation = this.#find(name, pointer, number);
    await eachOf(Object.entries(pointer.objects), POINTERS_AT_A_TIME, ([digest, size]) =>
      snapshots.check(digest, size, signal),
    );
    for (const { digest } of snapshotsOf(generation)) {
      const source = safeLocation(snapshots.location(digest));
      await verifySnapshot(source, { ...transfer, digest, signal, resolve: snapshots.resolve });
    }
    return generationOf(snapshots, pointer, generation);
  }

  /** Yields the local images of this host that no process has open and whose changes may not have been saved. */
  async *unsaved(): AsyncGenerator<UnsavedImage> {
    yield* this.#open.images.unsaved();
  }

  /**
   * Saves the local image of a disk that was lost, or of a process that was killed, as a new disk, and removes the image.
   *
   * @param image its path, as {@link unsaved} yields it
   * @throws {SnapshotError} `ERR_DISK_EXISTS`, `ERR_STORE`, `ERR_TARGET`, `ERR_ARGUMENT`
   */
  async recover(
    image: string,
    name: string,
    options: {
      readonly label?: string | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<Generation> {
    checkName("name", name);
    const { label, signal } = checked(options, SALVAGE_CHECKS);
    const { pointers, images } = this.#open;
    const path = localPath("image", image);
    const note = await images.originOf(path);
    if ((await pointers.find(name, signal)) !== undefined) throw this.#exists(name);
    const pointer = await recover(this.#open, path, note, { name, label, signal });
    await images.remove(path, note);
    return this.#generation(pointer);
  }

  /** Removes a local image and its changes. @throws {SnapshotError} `ERR_ARGUMENT`, `ERR_TARGET` */
  async discard(image: string): Promise<void> {
    const { images } = this.#open;
    const path = localPath("image", image);
    if (await images.remove(path, await images.originOf(path))) return;
    throw new SnapshotError("ERR_TARGET", `cannot remove ${image}: a process has it open`);
  }

  /**
   * Closes the store: later calls fail with `ERR_STORE`. Attached disks can still be saved and detached, and the connections
   * are closed when none is left.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closeUnused();
  }

  /** Calls {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The store, unless it was closed. @throws {SnapshotError} `ERR_STORE` */
  get #open(): Store {
    if (!this.#isClosed) return this.#store;
    throw new SnapshotError("ERR_STORE", `${this.location}: the store was closed`);
  }

  #closeUnused(): void {
    if (this.#isClosed && this.#attached === 0) this.#store.objects.close();
  }

  /** Returns the last generation of a pointer, as users see it. */
  #generation(pointer: Pointer): Generation {
    return generationOf(this.#open.snapshots, pointer, headOf(pointer));
  }

  #now(): Promise<number> {
    return this.#open.objects.now();
  }

  #find(name: string, pointer: Pointer, number: number | undefined): PointerGeneration {
    if (number === undefined) return headOf(pointer);
    const found = pointer.generations.find((generation) => generation.number === number);
    if (found !== undefined) return found;
    const [first, last] = [pointer.generations[0]?.number, headOf(pointer).number];
    const message = `${name} has no generation ${number}: its first one is ${first}, its last one ${last}`;
    throw new SnapshotError("ERR_NO_DISK", message);
  }

  #exists(name: string): SnapshotError {
    return new SnapshotError("ERR_DISK_EXISTS", `${this.location}: a disk has the name ${name}`);
  }
}

/** Returns checked options. @throws the reason of the signal if it is aborted, {@link SnapshotError} `ERR_ARGUMENT` */
function checked<Options extends StoreCallOptions>(
  options: Options,
  checks: Checks<Options>,
): Options {
  const given = checkOptions(options, checks);
  given.signal?.throwIfAborted();
  return given;
}

/** Returns different names of forks. @throws {SnapshotError} `ERR_ARGUMENT` */
function namesOf(forks: string | readonly string[]): readonly string[] {
  const names = Array.isArray(forks) ? [...forks] : [forks];
  for (const name of names) checkName("forks", name);
  if (names.length === new Set(names).size) return names;
  throw invalid("forks", "a name, or different names in an array", "a name twice");
}
