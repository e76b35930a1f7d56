import { randomUUID } from "node:crypto";
import { SnapshotError } from "../error.js";
import type { TransferOptions } from "../http/transfer.js";
import { type Location, safeLocation } from "../location/location.js";
import { FolderObjects } from "./folder-objects.js";
import { MARKER, type StoreObjects } from "./objects.js";
import { PROBE, S3Objects } from "./s3-objects.js";

/** The kind and version of a store. */
const KIND = "hedgerow disk store";
const VERSION = 1;

const MAX_MARKER_LENGTH = 4_096;

/** How long removing a probe may take, in milliseconds. */
const PROBE_TIMEOUT = 30_000;

/** The options of opening a store. */
interface OpenRequest {
  readonly options: TransferOptions;
  readonly create: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The objects of a store, and its ID. */
interface OpenedObjects {
  readonly objects: StoreObjects;
  readonly id: string;
}

/**
 * Opens the objects of a store. Creates the store if it is missing and `create` is true.
 *
 * @throws {SnapshotError} `ERR_STORE` if it is not a store, or the service ignores conditions; `ERR_ARGUMENT`
 */
export async function openObjects(
  location: Location,
  request: OpenRequest,
): Promise<OpenedObjects> {
  const objects = await objectsAt(location, request);
  // Folders use locks instead.
  const checking = location.kind === "s3" ? checkConditions(objects, request.signal) : undefined;
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

function objectsAt(
  location: Location,
  { options, create, signal }: OpenRequest,
): Promise<StoreObjects> {
  switch (location.kind) {
    case "file":
      return FolderObjects.open(location.path, create);
    case "s3":
      return S3Objects.open(location, options, signal);
    case "http": {
      const message = `location: expected a folder or s3://bucket/key, found ${safeLocation(location)}`;
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
    const other = `"${"0".repeat(32)}"`;
    const [created, replaced, removed] = await Promise.all([
      objects.write(key, text(1), undefined, signal),
      objects.write(key, text(2), other, signal),
      objects.remove(key, other),
    ]);
    // If it was removed, the others may have found nothing.
    if (removed) throw refused(objects, "If-Match of DELETE");
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
