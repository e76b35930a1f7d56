import { hostname } from "node:os";
import { checkedCache, type ImageCache } from "../cache/image-cache.js";
import { traceOption } from "../disk/trace.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { MAX_IMAGE_SIZE } from "../format/limits.js";
import { localPath, locationOf, safeLocation } from "../location/location.js";
import { checkInteger } from "../options/check-integer.js";
import { checkedDigestOf } from "../options/digest.js";
import { checkOpen } from "../options/open-options.js";
import { readOptions } from "../options/read-options.js";
import {
  type AttachOptions,
  type CollectOptions,
  checkAttach,
  checkedName,
  checkedNames,
  checkGeneration,
  checkNewDisk,
  checkStore,
  checkText,
  type ExpireOptions,
  expiryOf,
  type GenerationOptions,
  graceOf,
  hooksOf,
  type ListOptions,
  MAX_NAME_LENGTH,
  type NewDiskOptions,
  type StoreOptions,
} from "../options/store-options.js";
import type { TransferOptions } from "../options/transfer-options.js";
import { checkedDigest, checkWork } from "../options/work-options.js";
import { verifySnapshot } from "../verify-snapshot.js";
import { attach } from "./attach.js";
import type { AttachedDisk } from "./attached-disk.js";
import { type Collected, collect, type Explanation, explain } from "./collect.js";
import { type ExpiredGeneration, expire } from "./expire.js";
import { checkDetached, isAttached } from "./lease.js";
import { LocalImages, type UnsavedImage } from "./local-images.js";
import { createForks, newPointer, recover, storeContent } from "./new-disk.js";
import type { StoreObjects } from "./objects.js";
import { openObjects } from "./open-objects.js";
import {
  type Generation,
  generationOf,
  headOf,
  objectsOf,
  type Pointer,
  type PointerGeneration,
  withGeneration,
} from "./pointer.js";
import { eachOf, forMany, POINTERS_AT_A_TIME, Pointers } from "./pointers.js";
import { Snapshots, type StoredSnapshot } from "./snapshots.js";

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
 * A store of named disks, in S3 or in a folder. One host at a time attaches a disk, saves it as a new generation while
 * it is in use, and detaches it; then any host may attach it.
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
  readonly place: string;
  readonly #allParts: StoreParts;
  /** The number of disks that are attached, or about to be. */
  #attached = 0;
  #isClosed = false;

  private constructor(parts: StoreParts) {
    this.#allParts = parts;
    this.place = parts.objects.name;
  }

  /**
   * Opens a store. Makes one if the place is none, unless `create` is false.
   *
   * An object store must support conditional writes and deletes (`If-None-Match`, `If-Match`): this is tested with a
   * temporary object.
   *
   * @param place the path of a folder, or `s3://bucket/key`
   * @throws {SnapshotError} `ERR_STORE`, `ERR_ARGUMENT`, `ERR_TARGET`
   */
  static async open(place: string | URL, options: StoreOptions = {}): Promise<DiskStore> {
    options = readOptions(options);
    const { lease: duration } = checkStore(options);
    const cache = checkedCache(options.cache);
    const { create = true, signal, owner = `${hostname()}:${process.pid}` } = options;
    const { connections, partSize, timeouts, retries, s3 } = options;
    const transfer = { connections, partSize, timeouts, retries, s3 };
    const directory =
      options.images === undefined
        ? LocalImages.defaultDirectory(cache?.directory)
        : localPath("images", options.images);
    const location = locationOf("place", place);
    const { objects, id } = await openObjects(location, { options: transfer, create, signal });
    return new DiskStore({
      ...{ objects, cache, owner, duration, transfer },
      pointers: new Pointers(objects),
      snapshots: new Snapshots(objects),
      images: new LocalImages(directory, id),
    });
  }

  /**
   * Creates a disk with the content of a snapshot or of a disk image, or of zeros. It appears when all of it is stored.
   *
   * @param name 1 to 128 letters, digits, `.`, `_` or `-`, of which the first is a letter or digit
   * @throws {SnapshotError} `ERR_DISK_EXISTS`, `ERR_STORE`, `ERR_ARGUMENT`, and what `createSnapshot` and
   *   `restoreSnapshot` throw
   */
  async create(name: string, options: NewDiskOptions): Promise<Generation> {
    checkedName(name);
    options = readOptions(options);
    checkNewDisk(options);
    if (options.size !== undefined) checkInteger("size", options.size, 0, MAX_IMAGE_SIZE);
    const digest = checkedDigest(options);
    const { label } = options;
    const signal = signalOf(options);
    const { pointers, snapshots, transfer } = this.#parts;
    if ((await pointers.find(name, signal)) !== undefined) throw this.#exists(name);
    const stored = await storeContent(snapshots, digest, { ...transfer, ...options });
    const pointer = newPointer(stored, await this.#now(), { label });
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
    checkedName(name);
    options = readOptions(options);
    checkOpen({ ...options, image: "." });
    const { steal = false, fill, fillBytesPerSecond, onStall, workers, onProgress } = options;
    const signal = signalOf(options);
    const saveEvery = checkAttach(options);
    const hooks = hooksOf(options);
    const { images, snapshots, transfer } = this.#parts;
    await images.open();
    const opening = { fill, fillBytesPerSecond, onStall, workers, onProgress, signal };
    this.#attached += 1;
    const onDetached = () => {
      this.#attached -= 1;
      this.#closeUnused();
    };
    try {
      return await attach(this.#parts, {
        ...{ name, steal, hooks, saveEvery, trace: traceOption(options.trace), onDetached },
        options: { ...transfer, ...opening, resolve: snapshots.resolve },
      });
    } catch (error) {
      onDetached();
      throw error;
    }
  }

  /**
   * Creates disks that begin with a generation of another one. Copies no data. If one of the names is in use, removes
   * those that it has created.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_DISK_EXISTS`, `ERR_STORE`, `ERR_ARGUMENT`
   */
  async fork(
    name: string,
    forks: string | readonly string[],
    options: GenerationOptions = {},
  ): Promise<void> {
    checkedName(name);
    const names = checkedNames(forks);
    options = readOptions(options);
    checkGeneration(options);
    const signal = signalOf(options);
    const { pointers, snapshots } = this.#parts;
    const { pointer } = await pointers.read(name, signal);
    const generation = this.#find(name, pointer, options.generation);
    // If it expired since, a collection may have deleted it.
    await snapshots.adoptAll(objectsOf(generation), signal);
    const parent = { name, generation: generation.number };
    await createForks(pointers, names, storedIn(pointer, generation), parent, signal);
  }

  /**
   * Adds an earlier generation of a detached disk once more, as the last one. Removes nothing. Fails if one of the
   * snapshots that the generation needs is missing.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_ATTACHED`, `ERR_STORE`, `ERR_ARGUMENT`
   */
  async rollback(
    name: string,
    generation: number,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Generation> {
    checkedName(name);
    const signal = signalOf(readOptions(options));
    checkInteger("generation", generation, 1, Number.MAX_SAFE_INTEGER);
    const { pointers, snapshots } = this.#parts;
    const time = Math.round(await this.#now());
    const { pointer } = await pointers.update(
      name,
      async (known) => {
        await checkDetached(pointers, name, known, "detach it first");
        const found = this.#find(name, known.pointer, generation);
        await snapshots.adoptAll(objectsOf(found), signal);
        const { digest, bases } = found;
        const again = { digest, bases, time, sizes: {} };
        // A host that was cut off must not save over it.
        return withGeneration({ ...known.pointer, lease: null }, again);
      },
      { signal },
    );
    return this.#generation(pointer);
  }

  /** Yields the generations of a disk, the first one first. @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE` */
  async *history(
    name: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Generation> {
    checkedName(name);
    const signal = signalOf(readOptions(options));
    const { pointer } = await this.#parts.pointers.read(name, signal);
    for (const generation of pointer.generations)
      yield generationOf(this.#parts.snapshots, pointer, generation);
  }

  /** Yields the names of all disks, in order. It reads a page of 1,000 at a time. @throws {SnapshotError} `ERR_STORE` */
  async *list(options: ListOptions = {}): AsyncGenerator<string> {
    options = readOptions(options);
    const { prefix, after } = options;
    const signal = signalOf(options);
    checkText("prefix", prefix, MAX_NAME_LENGTH);
    if (after !== undefined) checkedName(after);
    // A prefix that no name can have must not lead out of the folder.
    if (prefix !== undefined && prefix !== "") checkedName(prefix);
    yield* this.#parts.pointers.names({ prefix, after }, signal);
  }

  /** Returns the state of a disk. @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE` */
  async stat(
    name: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<DiskStatus> {
    checkedName(name);
    const signal = signalOf(readOptions(options));
    const { pointers } = this.#parts;
    const known = await pointers.read(name, signal);
    const { pointer } = known;
    const { generations, objects, lease, epoch, size } = pointer;
    const own = new Set(generations.filter(({ number }) => number > 1).map(({ digest }) => digest));
    const begun = new Set(generations.filter(({ number }) => number === 1).flatMap(objectsOf));
    let [ownBytes, sharedBytes] = [0, 0];
    for (const [digest, bytes] of Object.entries(objects))
      if (own.has(digest) && !begun.has(digest)) ownBytes += bytes;
      else sharedBytes += bytes;
    const isHeld = await isAttached(pointers, known);
    return {
      ...{ name, size, generations: generations.length, ownBytes, sharedBytes },
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
    options = readOptions(options);
    const { name, dryRun = false } = options;
    const expiry = { ...expiryOf(options), dryRun, signal: forMany(signalOf(options)) };
    return expire(this.#parts.pointers, name === undefined ? name : checkedName(name), expiry);
  }

  /**
   * Marks snapshots that no generation needs, deletes those that have been marked for the grace period, and removes
   * leftovers of killed processes, also local images without changes. It may run at any time, on several hosts at once.
   *
   * @throws {SnapshotError} `ERR_STORE`, `ERR_ARGUMENT`
   */
  async collect(options: CollectOptions = {}): Promise<Collected> {
    options = readOptions(options);
    const { dryRun = false } = options;
    const how = { grace: graceOf(options), dryRun, signal: forMany(signalOf(options)) };
    const { pointers, snapshots, images } = this.#parts;
    const collected = await collect(pointers, snapshots, how);
    if (dryRun) return collected;
    await images.clean(how.grace);
    const { deleted, bytes, duration } = collected;
    const event = { store: this.place, deleted: deleted.length, bytes, duration };
    emit("hedgerow:store:collect", event);
    return collected;
  }

  /** Returns the generations that need a snapshot, and its size. @throws {SnapshotError} `ERR_STORE`, `ERR_ARGUMENT` */
  async explain(
    digest: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Explanation> {
    const signal = signalOf(readOptions(options));
    const { pointers, snapshots } = this.#parts;
    // A digest is not optional here.
    const wanted = checkedDigestOf("digest", digest ?? "") as string;
    return explain(pointers, snapshots, wanted, forMany(signal));
  }

  /**
   * Removes a detached disk with all its generations. Its forks stay.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_ATTACHED`, `ERR_STORE`
   */
  async remove(
    name: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    checkedName(name);
    const signal = signalOf(readOptions(options));
    const { pointers } = this.#parts;
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
   * Verifies a disk: every byte of one generation, and the sizes of all snapshots that its generations need.
   *
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE`, and what `verifySnapshot` throws
   */
  async verify(name: string, options: GenerationOptions = {}): Promise<Generation> {
    checkedName(name);
    options = readOptions(options);
    checkGeneration(options);
    const { pointers, snapshots, transfer } = this.#parts;
    const signal = signalOf(options);
    const { pointer } = await pointers.read(name, signal);
    const generation = this.#find(name, pointer, options.generation);
    await eachOf(Object.entries(pointer.objects), POINTERS_AT_A_TIME, ([digest, size]) =>
      snapshots.check(digest, size, signal),
    );
    const { digest } = generation;
    const source = safeLocation(snapshots.location(digest));
    await verifySnapshot(source, { ...transfer, digest, signal, resolve: snapshots.resolve });
    return generationOf(snapshots, pointer, generation);
  }

  /** Yields the local images of this host that no process has open and whose changes may not have been saved. */
  async *unsaved(): AsyncGenerator<UnsavedImage> {
    yield* this.#parts.images.unsaved();
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
    checkedName(name);
    options = readOptions(options);
    const { label } = options;
    checkNewDisk({ size: 0, label });
    const signal = signalOf(options);
    const { pointers, images } = this.#parts;
    const path = localPath("image", image);
    const note = await images.originOf(path);
    if ((await pointers.find(name, signal)) !== undefined) throw this.#exists(name);
    const pointer = await recover(this.#parts, path, note, { name, label, signal });
    await images.remove(path, note);
    return this.#generation(pointer);
  }

  /** Removes a local image and its changes. @throws {SnapshotError} `ERR_ARGUMENT`, `ERR_TARGET` */
  async discard(image: string): Promise<void> {
    const { images } = this.#parts;
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

  get #parts(): StoreParts {
    if (!this.#isClosed) return this.#allParts;
    throw new SnapshotError("ERR_STORE", `${this.place}: the store was closed`);
  }

  #closeUnused(): void {
    if (this.#isClosed && this.#attached === 0) this.#allParts.objects.close();
  }

  /** Returns the last generation of a pointer, as users see it. */
  #generation(pointer: Pointer): Generation {
    return generationOf(this.#parts.snapshots, pointer, headOf(pointer));
  }

  #now(): Promise<number> {
    return this.#parts.objects.now();
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
    return new SnapshotError("ERR_DISK_EXISTS", `${this.place}: a disk has the name ${name}`);
  }
}

/** Returns the signal of a call. @throws its reason if it is aborted, {@link SnapshotError} `ERR_ARGUMENT` if it is none */
function signalOf({ signal }: { readonly signal?: AbortSignal | undefined }) {
  checkWork({ signal });
  signal?.throwIfAborted();
  return signal;
}

/** Returns the snapshot of a generation, with the sizes of its objects. */
function storedIn(pointer: Pointer, generation: PointerGeneration): StoredSnapshot {
  const { digest, bases } = generation;
  const sizes = Object.fromEntries(
    objectsOf(generation).map((object) => [object, pointer.objects[object] ?? 0]),
  );
  return { digest, bases, sizes, imageSize: pointer.size };
}

/** The parts of a store that its calls use. */
export interface StoreParts {
  readonly objects: StoreObjects;
  readonly pointers: Pointers;
  readonly snapshots: Snapshots;
  readonly images: LocalImages;
  readonly cache: ImageCache | undefined;
  /** The name of this host in leases. */
  readonly owner: string;
  /** The duration of leases, in milliseconds. */
  readonly duration: number;
  /** The options of transfers. */
  readonly transfer: TransferOptions;
}
