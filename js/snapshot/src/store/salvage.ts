/** Saves the local image of a disk that was lost, or of a process that was killed, as a new disk. */
import type { DiskParts } from "../disk/block-device.js";
import { openDisk } from "../disk/open-disk.js";
import { SnapshotError } from "../error.js";
import type { SnapshotInfo } from "../format/manifest.js";
import { ImageFile } from "../local/image-file.js";
import type { OpenOptions } from "../options/open-options.js";
import type { NewDiskOptions } from "../options/store-options.js";
import type { ImageOrigin } from "./local-images.js";
import { newPointer, storeImage } from "./new-disk.js";
import type { Pointer } from "./pointer.js";
import { type StoredSnapshot, storedOf } from "./snapshots.js";
import type { StoreParts } from "./store-parts.js";

/** A disk to make of a local image. */
interface SalvageRequest {
  readonly name: string;
  readonly label: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Saves a local image as a new disk, relative to the snapshot that it began with. If that was deleted since, an image that
 * is complete does not need it.
 *
 * @throws {SnapshotError} what `DiskStore.salvage` throws
 */
export async function salvage(
  store: StoreParts,
  image: string,
  note: ImageOrigin,
  { name, label, signal }: SalvageRequest,
): Promise<Pointer> {
  const { objects, pointers, snapshots, transfer } = store;
  const create = async (stored: StoredSnapshot) => {
    const { name: origin, generation } = note;
    const parent = generation === undefined ? undefined : { name: origin, generation };
    const pointer = newPointer(stored, await objects.now(), { label, parent });
    await pointers.create(name, pointer, signal);
    return pointer;
  };
  const [size] = await snapshots.adopt([note.digest], signal);
  if (size === undefined) return create(await storeWhole(store, image, { ...transfer, signal }));
  const options = { ...transfer, signal, resolve: snapshots.resolve };
  return withUnsaved(store, image, note, options, ({ saver }) =>
    snapshots.create(async (snapshot) => {
      let created: Pointer | undefined;
      const publish = async (info: SnapshotInfo) => {
        const published = await snapshot.publish(info, signal);
        const stored = storedOf(info);
        await snapshots.adoptAll(stored.bases, signal);
        created = await create(stored);
        return published;
      };
      const target = { location: snapshots.newLocation, write: snapshot.write, publish };
      await saver.save(target, { signal });
      return created as Pointer;
    }),
  );
}

/** Opens a local image as a disk, until `use` has ended. */
async function withUnsaved<T>(
  { snapshots, images, cache }: StoreParts,
  image: string,
  { digest }: ImageOrigin,
  options: Omit<OpenOptions, "image">,
  use: (parts: DiskParts) => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  const locked = images.lock(image);
  const parts = await openDisk({
    ...{ begun, location: snapshots.location(digest), path: image, locked, digest },
    ...{ cache, trace: undefined, options: { ...options, fill: "none", image } },
  });
  try {
    return await use(parts);
  } finally {
    parts.close();
    await parts.closed();
  }
}

/**
 * Stores a local image as a snapshot of its own.
 *
 * @throws {SnapshotError} `ERR_STORE` if it is not complete, `ERR_TARGET`, and what `createSnapshot` throws
 */
async function storeWhole(
  { snapshots, images }: StoreParts,
  image: string,
  options: NewDiskOptions,
): Promise<StoredSnapshot> {
  const locked = await images.lock(image);
  try {
    if (!locked.isPublished) {
      const message = `${image}: this image is not complete, and the store no longer has the snapshot that it began with`;
      throw new SnapshotError("ERR_STORE", message);
    }
    const file = await ImageFile.open(locked.paths.target);
    try {
      return await storeImage(snapshots, file, options);
    } finally {
      await file.close();
    }
  } finally {
    await locked.close();
  }
}
