/** Opens a store: its objects, its marker, and a check that its service honours conditions. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { CACHE, type ImageCache } from "../cache/image-cache.js";
import {
  BOOLEAN,
  type Checks,
  checkOptions,
  type Duration,
  duration,
  millisecondsOf,
  SIGNAL,
  text,
} from "../check.js";
import { SnapshotError } from "../error.js";
import { TRANSFER_CHECKS, type TransferOptions } from "../http/transfer.js";
import { type Location, localPath, locationOf, safeLocation } from "../location/location.js";
import { BucketObjects, PROBE } from "./bucket-objects.js";
import { FolderObjects } from "./folder-objects.js";
import { LocalImages } from "./local-images.js";
import { MARKER, type StoreObjects } from "./objects.js";
import { MAX_OWNER_LENGTH } from "./pointer.js";
import { Pointers } from "./pointers.js";
import { Snapshots } from "./snapshots.js";

/** Options of `DiskStore.open`. */
export interface StoreOptions extends Omit<TransferOptions, "headers"> {
  /** A cache that may have the images of base snapshots. Default: none. */
  readonly cache?: ImageCache | undefined;
  /**
   * The directory for the local images of attached disks. Default: a directory beside that of the cache, with the suffix
   * `-disks`; without a cache, `hedgerow/disks` in `XDG_STATE_HOME` or `~/.local/state`; for a user without a home
   * directory, `/var/tmp/hedgerow-<uid>-disks`.
   */
  readonly images?: string | undefined;
  /** Whether to create the store if it is missing. Default: `true`. */
  readonly create?: boolean | undefined;
  /** The name of this host in leases, which other hosts see. Default: the host name and the process ID. */
  readonly owner?: string | undefined;
  /**
   * How long a disk in an object store stays attached to a host that no longer renews its lease, 1 second to a day. In
   * a folder, the lease ends with the process. A host renews its leases after each third of this. Default: `"30s"`.
   */
  readonly lease?: Duration | undefined;
  /** Aborts opening. */
  readonly signal?: AbortSignal | undefined;
}

const { headers: _, ...transferChecks } = TRANSFER_CHECKS;

/** The checks of options for transfers from and to a store, which has no headers of its own. */
export const STORE_TRANSFER_CHECKS = transferChecks;

const STORE_CHECKS: Checks<StoreOptions> = {
  ...STORE_TRANSFER_CHECKS,
  cache: CACHE,
  images: (name, path) => localPath(name, path as string),
  create: BOOLEAN,
  owner: text(MAX_OWNER_LENGTH),
  lease: duration(1_000, 86_400_000),
  signal: SIGNAL,
};

/** What the calls of a store work with. */
export interface Store {
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

/**
 * Opens a store. Creates it if it is missing and `create` is true.
 *
 * @throws {SnapshotError} `ERR_STORE` if it is not a store, or the service ignores conditions; `ERR_ARGUMENT`
 */
export async function openStore(location: string | URL, options: StoreOptions): Promise<Store> {
  const {
    cache,
    images,
    create = true,
    owner = `${hostname()}:${process.pid}`,
    lease = "30s",
    signal,
    ...transfer
  } = checkOptions(options, STORE_CHECKS);
  const directory =
    images === undefined
      ? LocalImages.defaultDirectory(cache?.directory)
      : localPath("images", images);
  const request = { options: transfer, create, signal };
  const { objects, id } = await openMarked(locationOf("location", location), request);
  return {
    objects,
    pointers: new Pointers(objects),
    snapshots: new Snapshots(objects),
    images: new LocalImages(directory, id),
    cache,
    owner,
    duration: millisecondsOf(lease),
    transfer,
  };
}

/** The kind and version of a store. */
const KIND = "hedgerow disk store";
const VERSION = 1;

const MAX_MARKER_LENGTH = 4_096;

/** How long removing a probe may take, in milliseconds. */
const PROBE_TIMEOUT = 30_000;

/** How the objects of a store are opened. */
interface OpenRequest {
  readonly options: TransferOptions;
  readonly create: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Opens the objects of a store, and returns them with its ID. */
async function openMarked(
  location: Location,
  request: OpenRequest,
): Promise<{ readonly objects: StoreObjects; readonly id: string }> {
  const objects = await objectsAt(location, request);
  // Folders use locks instead.
  const checking =
    location.kind === "object" ? checkConditions(objects, request.signal) : undefined;
  try {
    const [id] = await Promise.all([openMarker(objects, request), checking]);
    return { objects, id };
  } catch (error) {
    // The check removes its probe.
    await checking?.catch(() => {});
    objects.close();
    throw error;
  }
}

/** Opens the objects at a place. @throws {SnapshotError} `ERR_ARGUMENT`, `ERR_STORE` */
export function objectsAt(
  location: Location,
  { options, create }: Pick<OpenRequest, "options" | "create">,
): Promise<StoreObjects> {
  switch (location.kind) {
    case "file":
      return FolderObjects.open(location.path, create);
    case "object":
      return BucketObjects.open(location, options);
    case "http": {
      const message = `location: expected a folder or the URL of an object service such as s3://bucket/key, found ${safeLocation(location)}`;
      throw new SnapshotError("ERR_ARGUMENT", message);
    }
  }
}

/** Reads the marker, or writes it. Returns the ID of the store. */
async function openMarker(objects: StoreObjects, { create, signal }: OpenRequest): Promise<string> {
  const found = await objects.read(MARKER, MAX_MARKER_LENGTH, signal);
  if (found !== undefined) return parseMarker(objects, found.bytes);
  if (!create)
    throw new SnapshotError("ERR_STORE", `${objects.name}: expected a store of disks, found none`);
  const marker = { kind: KIND, version: VERSION, id: randomUUID() };
  const { tag } = await objects.write(
    MARKER,
    Buffer.from(`${JSON.stringify(marker)}\n`),
    undefined,
    signal,
  );
  if (tag !== undefined) return marker.id;
  // Another process made the store at the same time.
  return openMarker(objects, { options: {}, create: false, signal });
}

function parseMarker({ name }: StoreObjects, bytes: Buffer): string {
  try {
    const { kind, version, id } = Object(JSON.parse(bytes.toString())) as Record<string, unknown>;
    if (kind === KIND && version === VERSION && typeof id === "string") return id;
  } catch {
    // It is not JSON.
  }
  const message = `${name}/${MARKER}: expected a store of disks of version ${VERSION}`;
  throw new SnapshotError("ERR_STORE", message);
}

/** Throws unless the service refuses conditional requests whose condition does not hold. */
async function checkConditions(
  objects: StoreObjects,
  signal: AbortSignal | undefined,
): Promise<void> {
  const key = `${PROBE}${randomUUID()}`;
  const text = (number: number) => Buffer.from(`{"probe":${number}}\n`);
  const { tag } = await objects.write(key, text(0), undefined, signal);
  if (tag === undefined) throw refused(objects, "If-None-Match of a new object");
  try {
    const [created, replaced] = await Promise.all([
      objects.write(key, text(1), undefined, signal),
      objects.write(key, text(2), objects.unusedTag, signal),
    ]);
    if (created.tag !== undefined) throw refused(objects, "If-None-Match");
    if (replaced.tag !== undefined) throw refused(objects, "If-Match");
  } finally {
    await objects.delete(key, PROBE_TIMEOUT);
  }
}

function refused({ name }: StoreObjects, header: string): SnapshotError {
  const message = `${name}: the service does not honour ${header}; use one that does, such as AWS S3`;
  return new SnapshotError("ERR_STORE", message);
}
