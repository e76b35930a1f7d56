/** Creates disks: of a snapshot, an image or zeros, as forks, and of local images with unsaved changes. */

import { randomUUID } from "node:crypto";
import {
  type Check,
  type Checks,
  checkObject,
  checkOptions,
  DIGEST,
  FUNCTION,
  integer,
  invalid,
  is,
  object,
  oneOf,
  text,
} from "../check.js";
import type { CreateOptions } from "../create-snapshot.js";
import type { OpenDisk } from "../disk/disk.js";
import { type DiskToOpen, openDisk } from "../disk/open-disk.js";
import { inFullIfTooLarge } from "../disk/save-disk.js";
import {
  checkEncoding,
  ENCODING_CHECKS,
  type EncodingOptions,
  encodingOf,
} from "../encode/snapshot-encoder.js";
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
import {
  checkVolumeName,
  MAX_LABEL_LENGTH,
  MAX_METADATA_LENGTH,
  MAX_VOLUMES,
  metadataLength,
  type NewGeneration,
  type Pointer,
  type PointerVolume,
  type VolumeKind,
} from "./pointer.js";
import { eachOf, POINTERS_AT_A_TIME, type Pointers } from "./pointers.js";
import { type Snapshots, type StoredSnapshot, storedOf } from "./snapshots.js";

/** The default piece size of memory: a resumed machine reads single pages. */
const MEMORY_PIECE_SIZE = 2 ** 16;

/** The content of a new disk or volume: one of `from`, `image` and `size`. */
export interface ContentOptions {
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
  /**
   * Maximum size of the part of `image` in one frame, as for `createSnapshot`. Default: 1 MiB, and 64 KiB for the memory
   * of a virtual machine.
   */
  readonly pieceSize?: number | undefined;
}

/** Options of `DiskStore.create`: exactly one of `from`, `image` and `size`. */
export interface NewDiskOptions extends ContentOptions, WorkOptions {
  /** Further volumes by name, at most 16, which are saved together with the disk. Default: none. */
  readonly volumes?: Readonly<Record<string, NewVolume>> | undefined;
  /** What the first generation carries: JSON of at most 4 KiB. Default: nothing. */
  readonly metadata?: unknown;
  /** A note on the first generation, at most 256 characters. */
  readonly label?: string | undefined;
}

/** A further volume of a new disk. A file needs none of `from`, `image` and `size`: it is then empty. */
export interface NewVolume extends ContentOptions {
  /**
   * `"disk"`, `"memory"`, or `"file"` for a small file of any size. Default: `"memory"` for a volume of this name,
   * `"file"` without content, else `"disk"`.
   */
  readonly kind?: VolumeKind | undefined;
}

const CONTENT_CHECKS: Checks<ContentOptions> = {
  ...ENCODING_CHECKS,
  from: (name, location) => locationOf(name, location as string),
  digest: DIGEST,
  resolve: FUNCTION,
  headers: TRANSFER_CHECKS.headers,
  image: (name, path) => localPath(name, path as string),
  format: oneOf("raw"),
  size: integer(0, MAX_IMAGE_SIZE),
};

const VOLUME_CHECK = object<NewVolume>({
  ...CONTENT_CHECKS,
  kind: oneOf("disk", "memory", "file"),
});

/** The check of metadata. */
export const METADATA: Check = is(
  `JSON of at most ${MAX_METADATA_LENGTH} bytes`,
  (value) => isSerialisable(value) && metadataLength(value) <= MAX_METADATA_LENGTH,
);

/** Returns a copy of metadata: a caller may change its own later, even while a save is running. */
export function copyOfMetadata(metadata: unknown): unknown {
  return metadata === undefined ? undefined : JSON.parse(JSON.stringify(metadata));
}

const NEW_DISK_CHECKS: Checks<NewDiskOptions> = {
  ...WORK_CHECKS,
  ...CONTENT_CHECKS,
  volumes(name, volumes) {
    checkObject(name, volumes);
    const given = Object.entries(volumes);
    if (given.length > MAX_VOLUMES)
      throw invalid(name, `at most ${MAX_VOLUMES} volumes`, String(given.length));
    for (const [key, volume] of given) {
      checkVolumeName(name, key);
      VOLUME_CHECK(`${name}.${key}`, volume);
    }
  },
  metadata: METADATA,
  label: text(MAX_LABEL_LENGTH),
};

/** Returns checked options. @throws {SnapshotError} `ERR_ARGUMENT`, also unless each volume has exactly one content */
export function checkNewDisk(options: NewDiskOptions): NewDiskOptions {
  options = checkOptions(options, NEW_DISK_CHECKS);
  checkContent("options", options);
  for (const [name, volume] of Object.entries(options.volumes ?? {}))
    if (kindOf(name, volume) !== "file" || contentsOf(volume).length > 0)
      checkContent(`volumes.${name}`, volume);
  return { ...options, metadata: copyOfMetadata(options.metadata) };
}

function checkContent(name: string, options: ContentOptions): void {
  const given = contentsOf(options);
  if (given.length === 1) return;
  throw invalid(name, "one of from, image and size", given.join(" and ") || "none");
}

function contentsOf(options: ContentOptions): string[] {
  return (["from", "image", "size"] as const).filter((key) => options[key] !== undefined);
}

function kindOf(name: string, volume: NewVolume): VolumeKind {
  if (volume.kind !== undefined) return volume.kind;
  if (contentsOf(volume).length === 0) return "file";
  return name === "memory" ? "memory" : "disk";
}

function isSerialisable(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/** A generation that a disk begins with. */
interface FirstGeneration extends Omit<NewGeneration, "time"> {
  /** The size of the disk, in bytes. */
  readonly size: number;
}

/** Stores the content of a new disk and of its volumes. @throws {SnapshotError} what `DiskStore.create` throws */
export async function storeDisk(
  snapshots: Snapshots,
  { volumes = {}, metadata, label, ...options }: NewDiskOptions,
  transfer: TransferOptions,
): Promise<FirstGeneration> {
  const disk = await storeContent(snapshots, options, transfer);
  const stored: StoredVolume[] = [];
  for (const [name, volume] of Object.entries(volumes)) {
    const { kind, ...content } = { ...volume, kind: kindOf(name, volume) };
    const pieceSize = content.pieceSize ?? (kind === "memory" ? MEMORY_PIECE_SIZE : undefined);
    const work = { signal: options.signal, workers: options.workers };
    const one = await storeContent(snapshots, { ...work, ...content, pieceSize }, transfer);
    stored.push([name, kind, one]);
  }
  return { ...contentFrom(disk, stored), metadata, label };
}

/** A volume that was stored. */
type StoredVolume = readonly [name: string, kind: VolumeKind, stored: StoredSnapshot];

/** Returns what a generation has of its disk and of its volumes. */
function contentFrom(disk: StoredSnapshot, stored: readonly StoredVolume[]) {
  const { digest, bases, imageSize: size } = disk;
  const volumes: Record<string, PointerVolume> = {};
  const sizes = { ...disk.sizes };
  for (const [name, kind, one] of stored) {
    volumes[name] = { kind, size: one.imageSize, digest: one.digest, bases: one.bases };
    Object.assign(sizes, one.sizes);
  }
  return { size, digest, bases, volumes: stored.length === 0 ? undefined : volumes, sizes };
}

async function storeContent(
  snapshots: Snapshots,
  options: ContentOptions & WorkOptions,
  transfer: TransferOptions,
): Promise<StoredSnapshot> {
  const { from, image, size } = options;
  if (from !== undefined)
    return snapshots.import(locationOf("from", from), { ...transfer, ...options });
  if (image !== undefined) {
    const file = await ImageFile.open(localPath("image", image));
    try {
      if (options.format === undefined) await file.checkRaw();
      return await storeImage(snapshots, file, { ...transfer, ...options });
    } finally {
      await file.close();
    }
  }
  const { path, handle } = await openTemporaryFile();
  try {
    await wrapWriteErrors(`${path}, as TMPDIR says`, handle.truncate(size ?? 0));
    const empty = await ImageFile.of(path, handle);
    return await storeImage(snapshots, empty, { ...transfer, ...options });
  } finally {
    await handle.close();
  }
}

/** Stores a snapshot of an image. @throws {SnapshotError} what `DiskStore.create` throws */
export async function storeImage(
  snapshots: Snapshots,
  image: ImageFile,
  options: EncodingOptions & WorkOptions & TransferOptions,
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

/** Returns the pointer of a new disk. */
export function newPointer({ size, sizes, ...generation }: FirstGeneration, time: number): Pointer {
  return {
    id: randomUUID(),
    epoch: 0,
    lease: null,
    size,
    next: 2,
    generations: [{ number: 1, time: Math.round(time), ...generation }],
    objects: sizes,
  };
}

/**
 * Creates disks that begin with a generation of another one: all of them or none.
 *
 * @throws {SnapshotError} `ERR_DISK_EXISTS`, `ERR_STORE`
 */
export async function createForks(
  pointers: Pointers,
  names: readonly string[],
  first: FirstGeneration,
  signal: AbortSignal | undefined,
): Promise<void> {
  const time = await pointers.objects.now();
  const forks = new Map(names.map((name) => [name, newPointer(first, time)]));
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
 * Saves the local images of a disk and of its volumes as a new disk. Memory and files begin empty: they may be of another
 * moment than the disks.
 *
 * @throws {SnapshotError} what `DiskStore.recover` throws
 */
export async function recover(
  store: Store,
  image: string,
  note: ImageOrigin,
  { name, label, signal }: RecoverRequest,
): Promise<Pointer> {
  const { objects, pointers, snapshots, images, transfer } = store;
  const save = async (path: string, origin: ImageOrigin): Promise<StoredSnapshot> => {
    if (origin.kind !== undefined && origin.kind !== "disk") {
      const size = origin.kind === "memory" ? origin.size : 0;
      const pieceSize = origin.kind === "memory" ? MEMORY_PIECE_SIZE : undefined;
      return storeContent(snapshots, { size, pieceSize, signal }, transfer);
    }
    const [found] = await snapshots.adopt([origin.digest], signal);
    return found === undefined
      ? storeWhole(store, path, { ...transfer, signal })
      : storeChanges(store, path, origin, signal);
  };
  const disk = await save(image, note);
  const volumes: StoredVolume[] = [];
  for (const { volume, path, origin } of await images.volumesOf(image))
    volumes.push([volume, origin.kind ?? "disk", await save(path, origin)]);
  const { name: origin, generation } = note;
  const first = {
    ...contentFrom(disk, volumes),
    label,
    parent: generation === undefined ? undefined : { name: origin, generation },
  };
  const pointer = newPointer(first, await objects.now());
  await pointers.create(name, pointer, signal);
  return pointer;
}

/** Stores a local image relative to the snapshot that it began with. */
async function storeChanges(
  store: Store,
  image: string,
  note: ImageOrigin,
  signal: AbortSignal | undefined,
): Promise<StoredSnapshot> {
  const { snapshots, transfer } = store;
  const options = { ...transfer, signal, resolve: snapshots.resolve };
  const disk = await openUnsaved(store, image, note, options);
  const save = () =>
    snapshots.create(async (snapshot) => {
      let stored: StoredSnapshot | undefined;
      const publish = async (info: SnapshotInfo) => {
        const published = await snapshot.publish(info, signal);
        stored = storedOf(info);
        await snapshots.adoptAll(stored.bases, signal);
        return published;
      };
      const target = { location: snapshots.newLocation, write: snapshot.write, publish };
      await disk.saver.save(target, { signal });
      return stored as unknown as StoredSnapshot;
    });
  try {
    return await inFullIfTooLarge(save);
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
  options: WorkOptions & TransferOptions,
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
