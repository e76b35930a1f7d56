import { randomUUID } from "node:crypto";

import type { OpenDisk } from "../disk/disk.js";
import type { FillOptions } from "../disk/fill.js";
import { type DiskToOpen, openDisk } from "../disk/open-disk.js";
import { traceFor } from "../disk/trace.js";
import { emit } from "../events.js";
import type { KnownBase } from "../location/base-objects.js";
import { safeLocation } from "../location/location.js";
import { AttachedDisk } from "./attached-disk.js";
import type { Hooks } from "./hooks.js";
import { Lease } from "./lease.js";
import type { ImageNote } from "./local-images.js";
import type { Store } from "./open-store.js";
import { headOf, type Pointer } from "./pointer.js";

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

/** How the image of a disk is opened. */
interface OpenRequest extends Pick<AttachRequest, "name" | "trace" | "options"> {
  /** The token of the lease. */
  readonly token: string;
  /** When `attach` was called, as `performance.now()` says. */
  readonly begun: number;
  /** Settles when the disk is attached, or will not be. */
  readonly ready: Promise<void>;
}

/** An image that is being opened. */
interface Opening {
  readonly note: ImageNote;
  readonly image: string;
  readonly disk: Promise<OpenDisk>;
  /** Settles when the record of the image is durable. */
  readonly kept: Promise<void>;
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
    open(store, { name, trace: request.trace, options, token, begun, ready }, pointer);
  // At the same time, take the lease.
  let opening = openHead(known.pointer);
  let lease: Lease | undefined;
  try {
    const wanted = { name, token, owner, duration, steal, signal };
    lease = await Lease.take(pointers, wanted, known);
    if (headOf(lease.pointer).digest !== opening.note.digest) {
      // Another host has saved it since the pointer was read.
      await discard(store, opening);
      opening = openHead(lease.pointer);
    }
    const { note, kept } = opening;
    const disk = await opening.disk;
    await kept;
    const { epoch } = lease.pointer;
    const time = performance.now() - begun;
    const event = { store: store.objects.name, name, generation: note.generation, epoch };
    emit("hedgerow:store:attach", { ...event, duration: time });
    return new AttachedDisk(disk, {
      name,
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

/** Starts to open the local image of the last generation. */
function open(
  store: Store,
  { name, trace, options, token, ...timing }: OpenRequest,
  pointer: Pointer,
): Opening {
  const { snapshots, images, cache } = store;
  const { number, digest, bases } = headOf(pointer);
  const note = { name, generation: number, digest };
  const image = images.pathFor(name, token);
  const locked = images.begin(image, note);
  const location = snapshots.location(digest);
  const disk = openDisk({
    ...timing,
    location,
    path: image,
    locked,
    isNew: true,
    digest,
    cache,
    bases: () => uncached(store, bases, pointer),
    trace: traceFor(trace, location),
    options,
  });
  // Meanwhile, too: it must be durable before the image is written to.
  const kept = locked.then(() => images.keep(image, note));
  // If the lease cannot be taken, their errors do not matter.
  for (const one of [disk, kept]) one.catch(() => {});
  return { note, image, disk, kept };
}

/** Returns the base objects of a generation, or none if the image of one of them is in the cache: it has most of it. */
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

/** Closes and removes an image that was not used. */
async function discard({ images }: Store, { note, image, disk, kept }: Opening): Promise<void> {
  await kept.catch(() => {});
  const opened = await disk.catch(() => undefined);
  opened?.close();
  await opened?.closed().catch(() => {});
  await images.remove(image, note).catch(() => {});
}
