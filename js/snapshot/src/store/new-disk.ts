/** Creates disks: of a snapshot, an image or zeros, as forks, and of local images with unsaved changes. */

import { randomUUID } from "node:crypto";
import {
  type Checks,
  checkOptions,
  DIGEST,
  FUNCTION,
  integer,
  invalid,
  oneOf,
  text,
} from "../check.js";
import type { CreateOptions } from "../create-snapshot.js";
import type { OpenDisk } from "../disk/disk.js";
import { type DiskToOpen, openDisk } from "../disk/open-disk.js";
import { checkEncoding, ENCODING_CHECKS, encodingOf } from "../encode/snapshot-encoder.js";
import { SnapshotError } from "../error.js";
import { MAX_IMAGE_SIZE } from "../format/limits.js";
import type { SnapshotInfo } from "../format/manifest.js";
import {
  TRANSFER_CHECKS,
  type Transfer,
  type TransferOptions,
  transferOf,
} from "../http/transfer.js";
import { ImageFile } from "../local/image-file.js";
import { openTemporaryFile } from "../local/private-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import { localPath, locationOf } from "../location/location.js";
import type { ReadOptions } from "../location/source.js";
import { writeFullSnapshot } from "../location/write-snapshot.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import { WORK_CHECKS, type WorkOptions } from "../workers/pool.js";
import type { ImageOrigin } from "./local-images.js";
import type { Store } from "./open-store.js";
import { MAX_LABEL_LENGTH, type ParentGeneration, type Pointer } from "./pointer.js";
import { eachOf, POINTERS_AT_A_TIME, type Pointers } from "./pointers.js";
import { type Snapshots, type StoredSnapshot, storedOf } from "./snapshots.js";

/** The content of a new disk: exactly one of `from`, `image` and `size`. */
export interface NewDiskOptions extends WorkOptions {
  /** A snapshot, which is copied into the store with its base objects: a path or a URL, as for `restoreSnapshot`. */
  readonly from?: string | URL | undefined;
  /** The identity that `from` must have, as 64 hexadecimal digits. Default: any. */
  readonly digest?: ReadOptions["digest"];
  /** Returns the locations of the base objects of `from`. Default: the references in it. */
  readonly resolve?: ReadOptions["resolve"];
  /** Headers for requests to `from`, as for `restoreSnapshot`. */
  readonly headers?: TransferOptions["headers"];
  /** The path of a disk image. */
  readonly image?: string | undefined;
  /** `"raw"` to store any file as `image`, as for `createSnapshot`. */
  readonly format?: CreateOptions["format"];
  /** The size of an empty disk, in bytes, at most 16 TiB. */
  readonly size?: number | undefined;
  /** zstd compression level of `image`, 1 to 19. Default: `3`. */
  readonly level?: number | undefined;
  /** Maximum size of the part of `image` in one frame, as for `createSnapshot`. Default: 1 MiB. */
  readonly pieceSize?: number | undefined;
  /** A note on the first generation, at most 256 characters. */
  readonly label?: string | undefined;
}

/** The checks of {@link NewDiskOptions}. */
export const NEW_DISK_CHECKS: Checks<NewDiskOptions> = {
  ...WORK_CHECKS,
  ...ENCODING_CHECKS,
  from: (name, location) => locationOf(name, location as string),
  digest: DIGEST,
  resolve: FUNCTION,
  headers: TRANSFER_CHECKS.headers,
  image: (name, path) => localPath(name, path as string),
  format: oneOf("raw"),
  size: integer(0, MAX_IMAGE_SIZE),
  label: text(MAX_LABEL_LENGTH),
};

/** Returns checked options. @throws {SnapshotError} `ERR_ARGUMENT` unless exactly one content is given */
export function checkNewDisk(options: NewDiskOptions): NewDiskOptions {
  options = checkOptions(options, NEW_DISK_CHECKS);
  const given = (["from", "image", "size"] as const).filter((key) => options[key] !== undefined);
  if (given.length === 1) return options;
  throw invalid("options", "one of from, image and size", given.join(" and ") || "none");
}

/** Stores the content of a new disk. @throws {SnapshotError} what `DiskStore.create` throws */
export async function storeContent(
  snapshots: Snapshots,
  options: NewDiskOptions & TransferOptions,
): Promise<StoredSnapshot> {
  const { from, image, size } = options;
  if (from !== undefined) return snapshots.import(locationOf("from", from), options);
  if (image !== undefined) {
    const file = await ImageFile.open(localPath("image", image));
    try {
      if (options.format === undefined) await file.checkRaw();
      return await storeImage(snapshots, file, options);
    } finally {
      await file.close();
    }
  }
  const { path, handle } = await openTemporaryFile();
  try {
    await wrapWriteErrors(`${path}, as TMPDIR says`, handle.truncate(size ?? 0));
    return await storeImage(snapshots, await ImageFile.of(path, handle), options);
  } finally {
    await handle.close();
  }
}

/** Stores a snapshot of an image. @throws {SnapshotError} what `DiskStore.create` throws */
export async function storeImage(
  snapshots: Snapshots,
  image: ImageFile,
  options: NewDiskOptions,
): Promise<StoredSnapshot> {
  const encoding = encodingOf(options);
  checkEncoding(await compiledEncode(), encoding);
  const transfer: Transfer = transferOf(options);
  return snapshots.create(async ({ write, publish }) => {
    const info = await writeFullSnapshot(write, { image, encoding, options, transfer });
    await publish(info, options.signal);
    return storedOf(info);
  });
}

/** Returns the pointer of a new disk. @param parent of a fork */
export function newPointer(
  { digest, bases, sizes, imageSize }: StoredSnapshot,
  time: number,
  {
    label,
    parent,
  }: {
    readonly label?: string | undefined;
    readonly parent?: ParentGeneration | undefined;
  } = {},
): Pointer {
  const first = { number: 1, digest, bases, time: Math.round(time), label, parent };
  return {
    id: randomUUID(),
    epoch: 0,
    lease: null,
    size: imageSize,
    next: 2,
    generations: [first],
    objects: sizes,
  };
}

/**
 * Creates disks that begin with a snapshot: all of them or none.
 *
 * @throws {SnapshotError} `ERR_DISK_EXISTS`, `ERR_STORE`
 */
export async function createForks(
  pointers: Pointers,
  names: readonly string[],
  stored: StoredSnapshot,
  parent: ParentGeneration,
  signal: AbortSignal | undefined,
): Promise<void> {
  const time = await pointers.objects.now();
  const forks = new Map(names.map((name) => [name, newPointer(stored, time, { parent })]));
  const begun = new Set<string>();
  try {
    await eachOf(forks, POINTERS_AT_A_TIME, async ([name, pointer]) => {
      begun.add(name);
      await pointers.create(name, pointer, signal);
    });
  } catch (error) {
    // One whose response was lost may be there, too.
    await Promise.allSettled(
      [...begun].map(async (name) => {
        const known = await pointers.find(name);
        const isOwn = known?.pointer.id === forks.get(name)?.id;
        if (known !== undefined && isOwn && known.pointer.epoch === 0)
          await pointers.remove(name, known);
      }),
    );
    throw error;
  }
}

/** A disk to make of a local image. */
interface RecoverRequest {
  readonly name: string;
  readonly label: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Saves a local image as a new disk, relative to the snapshot that it began with. If that was deleted since, an image that
 * is complete does not need it.
 *
 * @throws {SnapshotError} what `DiskStore.recover` throws
 */
export async function recover(
  store: Store,
  image: string,
  note: ImageOrigin,
  { name, label, signal }: RecoverRequest,
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
  const disk = await openUnsaved(store, image, note, options);
  try {
    return await snapshots.create(async (snapshot) => {
      let created: Pointer | undefined;
      const publish = async (info: SnapshotInfo) => {
        const published = await snapshot.publish(info, signal);
        const stored = storedOf(info);
        await snapshots.adoptAll(stored.bases, signal);
        created = await create(stored);
        return published;
      };
      const target = { location: snapshots.newLocation, write: snapshot.write, publish };
      await disk.saver.save(target, { signal });
      return created as Pointer;
    });
  } finally {
    disk.close();
    await disk.closed();
  }
}

/** Opens a local image as a disk. */
function openUnsaved(
  { snapshots, images, cache }: Store,
  image: string,
  { digest }: ImageOrigin,
  options: DiskToOpen["options"],
): Promise<OpenDisk> {
  return openDisk({
    begun: performance.now(),
    location: snapshots.location(digest),
    path: image,
    locked: images.lock(image),
    digest,
    cache,
    trace: undefined,
    options: { ...options, fill: "none" },
  });
}

/**
 * Stores a local image as a snapshot of its own.
 *
 * @throws {SnapshotError} `ERR_STORE` if it is not complete, `ERR_TARGET`, and what `createSnapshot` throws
 */
async function storeWhole(
  { snapshots, images }: Store,
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
