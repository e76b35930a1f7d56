import { randomUUID } from "node:crypto";

import type { OpenDisk } from "../disk/disk.js";
import type { FillOptions } from "../disk/fill.js";
import type { LockedDisk } from "../disk/locked-disk.js";
import { type DiskToOpen, openDisk } from "../disk/open-disk.js";
import { traceFor } from "../disk/trace.js";
import { emit } from "../events.js";
import type { KnownBase } from "../location/base-objects.js";
import { safeLocation } from "../location/location.js";
import { restoreSnapshot } from "../restore-snapshot.js";
import { AttachedDisk } from "./attached-disk.js";
import type { Hooks } from "./hooks.js";
import { Lease } from "./lease.js";
import type { ImageNote, LocalImages } from "./local-images.js";
import type { Store } from "./open-store.js";
import { headOf, objectsOf, type Pointer, type PointerGeneration } from "./pointer.js";
import { DiskVolume, FileVolume, type Volume } from "./volume.js";

/** A disk to attach. */
export interface AttachRequest {
  readonly name: string;
  readonly steal: boolean;
  readonly hooks: Hooks;
  readonly saveEvery: number | undefined;
  readonly trace: FillOptions["trace"];
  readonly options: DiskToOpen["options"];
  /** Called when an attached disk no longer needs the store. */
  readonly onDetached: () => void;
}

/** How the images of a disk are opened. */
interface OpenRequest extends Pick<AttachRequest, "name" | "trace" | "options"> {
  /** The token of the lease. */
  readonly token: string;
  /** When `attach` was called, as `performance.now()` says. */
  readonly begun: number;
  /** Settles when the disk is attached, or will not be. */
  readonly ready: Promise<void>;
}

/** An image that is being opened. */
interface Opening<T> {
  readonly note: ImageNote;
  readonly image: string;
  readonly locked: Promise<LockedDisk>;
  readonly opened: Promise<T>;
  /** Settles when the record of the image is durable. */
  readonly kept: Promise<void>;
}

/** The images of a disk and of its volumes, which are being opened. */
interface OpeningDisk extends Opening<OpenDisk> {
  readonly disks: ReadonlyMap<string, Opening<OpenDisk>>;
  /** Files, with what ends their locks. */
  readonly files: ReadonlyMap<string, Opening<() => Promise<void>>>;
}

/** Attaches a disk. @throws {SnapshotError} what `DiskStore.attach` throws */
export async function attach(store: Store, request: AttachRequest): Promise<AttachedDisk> {
  const begun = performance.now();
  const { pointers, snapshots, images, owner, duration } = store;
  const { name, steal, hooks, saveEvery, onDetached, options } = request;
  const { signal } = options;
  // If no other process has changed the disk since this one detached or created it, its pointer need not be read.
  const remembered = pointers.remembered(name);
  const known = remembered?.pointer.lease === null ? remembered : await pointers.read(name, signal);
  const token = randomUUID();
  let attached: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    attached = resolve;
  });
  const openHead = (pointer: Pointer) =>
    openAll(store, { name, trace: request.trace, options, token, begun, ready }, pointer);
  // At the same time, take the lease.
  let opening = openHead(known.pointer);
  let lease: Lease | undefined;
  try {
    const wanted = { name, token, owner, duration, steal, signal };
    lease = await Lease.take(pointers, wanted, known);
    if (!isSameContent(headOf(lease.pointer), headOf(known.pointer))) {
      // Another host has saved it since the pointer was read.
      await discard(store, opening);
      opening = openHead(lease.pointer);
    }
    const { note } = opening;
    const disk = await opening.opened;
    const further = await openedVolumes(opening);
    await Promise.all(imagesOf(opening).map(({ kept }) => kept));
    const { epoch } = lease.pointer;
    const time = performance.now() - begun;
    const event = { store: store.objects.name, name, generation: note.generation, epoch };
    emit("hedgerow:store:attach", { ...event, duration: time });
    return new AttachedDisk(disk, {
      name,
      ...further,
      lease,
      snapshots,
      images,
      note,
      hooks,
      saveEvery,
      onDetached,
    });
  } catch (error) {
    await discard(store, opening);
    // A lease that cannot be released must at least not be renewed.
    await lease?.release().catch(() => lease?.abandon());
    throw error;
  } finally {
    attached();
  }
}

/** Starts to open the local images of the last generation. */
function openAll(store: Store, request: OpenRequest, pointer: Pointer): OpeningDisk {
  const { images } = store;
  const { name, token } = request;
  const { number: generation, digest, bases, volumes = {} } = headOf(pointer);
  const note = { name, generation, digest };
  const root = openDiskImage(store, request, pointer, {
    note,
    image: images.pathFor(name, token),
    bases,
  });
  const disks = new Map<string, Opening<OpenDisk>>();
  const files = new Map<string, Opening<() => Promise<void>>>();
  for (const [volume, { kind, size, digest, bases }] of Object.entries(volumes)) {
    const image = images.pathFor(name, token, volume);
    // Images of volumes are found by that of the disk.
    const one = { image, note: { ...note, digest, kind, size }, bases, after: root.locked };
    if (kind === "file") files.set(volume, restoreFile(store, request, one));
    else disks.set(volume, openDiskImage(store, request, pointer, one));
  }
  return { ...root, disks, files };
}

/** The image of a disk or of a volume. */
interface ImageToOpen extends Pick<Opening<unknown>, "note" | "image"> {
  readonly bases: readonly string[];
  /** What must be locked first. */
  readonly after?: Promise<unknown>;
}

/** Starts to open an image as a disk. */
function openDiskImage(
  store: Store,
  { trace, options, begun, ready }: OpenRequest,
  pointer: Pointer,
  { note, image, bases, after }: ImageToOpen,
): Opening<OpenDisk> {
  const { snapshots, images, cache } = store;
  const { digest } = note;
  const locked = Promise.resolve(after).then(() => images.begin(image, note));
  const location = snapshots.location(digest);
  const opened = openDisk({
    begun,
    ready,
    location,
    path: image,
    locked,
    isNew: true,
    digest,
    cache,
    bases: () => uncached(store, bases, pointer),
    // A given trace is that of the disk itself.
    trace: traceFor(after === undefined || trace === false ? trace : undefined, location),
    options,
  });
  return keepRecord(images, { note, image, locked, opened });
}

/** Starts to restore a file. */
function restoreFile(
  { snapshots, images, transfer }: Store,
  { options }: OpenRequest,
  { note, image, after }: ImageToOpen,
): Opening<() => Promise<void>> {
  const locked = Promise.resolve(after).then(() => images.begin(image, note));
  const restore = async () => {
    const lock = await locked;
    try {
      const { digest } = note;
      const { signal } = options;
      const source = safeLocation(snapshots.location(digest));
      const reading = { ...transfer, digest, signal, resolve: snapshots.resolve };
      await restoreSnapshot(source, image, reading);
      lock.made();
      return () => lock.close();
    } catch (error) {
      await lock.close();
      throw error;
    }
  };
  return keepRecord(images, { note, image, locked, opened: restore() });
}

/** Makes the record of an image durable, before the image is written to. */
function keepRecord<T>(images: LocalImages, opening: Omit<Opening<T>, "kept">): Opening<T> {
  const { note, image, locked, opened } = opening;
  const kept = locked.then(() => images.keep(image, note));
  // If the lease cannot be taken, their errors do not matter.
  for (const one of [opened, kept]) one.catch(() => {});
  return { ...opening, kept };
}

/** Returns the volumes of a disk, when they are open. */
async function openedVolumes({ disks, files }: OpeningDisk) {
  const volumes = new Map<string, Volume>();
  const openDisks = new Map<string, OpenDisk>();
  const closeFiles = [];
  for (const [name, { note, opened }] of disks) {
    const open = await opened;
    openDisks.set(name, open);
    volumes.set(name, new DiskVolume(open, name, note.kind as DiskVolume["kind"]));
  }
  for (const [name, { image, opened }] of files) {
    closeFiles.push(await opened);
    volumes.set(name, new FileVolume(image, name));
  }
  return { volumes, disks: openDisks, closeFiles };
}

function imagesOf(opening: OpeningDisk): Opening<OpenDisk | (() => Promise<void>)>[] {
  return [opening, ...opening.disks.values(), ...opening.files.values()];
}

/** Returns whether two generations have the same snapshots. */
function isSameContent(one: PointerGeneration, other: PointerGeneration): boolean {
  return one.number === other.number && objectsOf(one).join() === objectsOf(other).join();
}

/** Returns the base objects of a snapshot, or none if the image of one of them is in the cache: it has most of it. */
async function uncached(
  { snapshots, cache }: Store,
  bases: readonly string[],
  { objects }: Pointer,
): Promise<KnownBase[]> {
  const known = bases.map((digest) => {
    return { digest, location: snapshots.location(digest), size: objects[digest] ?? 0 };
  });
  for (const { digest, location } of known)
    if (await cache?.has(safeLocation(location), { digest })) return [];
  return known;
}

/** Closes and removes images that were not used. */
async function discard({ images }: Store, opening: OpeningDisk): Promise<void> {
  // While its image is locked, no process looks at those of its volumes.
  for (const { opened, kept } of imagesOf(opening).reverse()) {
    await kept.catch(() => {});
    const open = await opened.catch(() => undefined);
    if (typeof open === "function") await open();
    else {
      open?.close();
      await open?.closed().catch(() => {});
    }
  }
  await images.remove(opening.image, opening.note).catch(() => {});
}
