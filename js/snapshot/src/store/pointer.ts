/** The pointer of a disk: a small JSON object with its generations, and with the lease of the host that may save it. */

import { randomUUID } from "node:crypto";
import { invalid } from "../check.js";
import { SnapshotError } from "../error.js";

/** The maximum length of a pointer, in bytes. */
export const MAX_POINTER_LENGTH = 2 ** 21;

/** The maximum number of generations of a disk: the next save removes the oldest one. */
export const MAX_GENERATIONS = 1_000;

/** The part of a pointer's length that saves leave to the lease of the next attachment, in bytes. */
const LEASE_ROOM = 4_096;

/** The maximum length of names, owners and labels, in characters. */
export const MAX_NAME_LENGTH = 128;
export const MAX_OWNER_LENGTH = 256;
export const MAX_LABEL_LENGTH = 256;

/**
 * Matches names of disks. They become names of files and keys of objects, so they have no separator, and no character
 * that a file system or URL treats in a special way.
 */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** @throws {SnapshotError} `ERR_ARGUMENT` unless a value is the name of a disk */
export function checkName(what: string, name: unknown): asserts name is string {
  const isText = typeof name === "string";
  if (isText && name.length <= MAX_NAME_LENGTH && NAME.test(name)) return;
  const found = isText ? JSON.stringify(name.slice(0, 2 * MAX_NAME_LENGTH)) : typeof name;
  const expected = `1 to ${MAX_NAME_LENGTH} letters, digits, ".", "_" or "-", of which the first is a letter or digit`;
  throw invalid(what, expected, found);
}

/** The maximum number of further volumes of a disk, and the maximum length of metadata as JSON, in bytes. */
export const MAX_VOLUMES = 16;
export const MAX_METADATA_LENGTH = 4_096;

/** Matches names of volumes. */
const VOLUME_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** @throws {SnapshotError} `ERR_ARGUMENT` unless a value is the name of a volume */
export function checkVolumeName(what: string, name: string): void {
  if (VOLUME_NAME.test(name)) return;
  const expected = `1 to 32 lower-case letters, digits or "-", of which the first is a letter`;
  throw invalid(what, expected, JSON.stringify(name.slice(0, 64)));
}

/** The kind of pointers, and their versions: the second one has volumes or metadata. */
const KIND = "hedgerow disk";
const [VERSION, VOLUMES_VERSION] = [1, 2];

/** The maximum number of base objects of a snapshot. */
const MAX_BASES = 8;

/** The generation of another disk that a fork began from. */
export interface ParentGeneration {
  /** The name of that disk. */
  readonly name: string;
  /** The number of the generation. */
  readonly generation: number;
}

/** Compares generations of disks: by name, then by number. */
export function byGeneration(one: ParentGeneration, other: ParentGeneration): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.generation - other.generation;
}

/** What a volume is: a disk, the memory of a virtual machine, or a file that is small and whole at once. */
export type VolumeKind = "disk" | "memory" | "file";

const KINDS: readonly unknown[] = ["disk", "memory", "file"] satisfies VolumeKind[];

/** Returns whether a value is the kind of a volume. */
export function isVolumeKind(value: unknown): value is VolumeKind {
  return KINDS.includes(value);
}

/** A snapshot of a generation. */
interface PointerSnapshot {
  /** Its identity. */
  readonly digest: string;
  /** The identities of its base objects. */
  readonly bases: readonly string[];
}

/** A further volume of a disk, as it was saved. */
export interface PointerVolume extends PointerSnapshot {
  readonly kind: VolumeKind;
  /** In bytes. */
  readonly size: number;
}

/** The snapshots of one moment: that of the disk, and those of its further volumes. */
export interface Content extends PointerSnapshot {
  /** The further volumes by name, unless there are none. */
  readonly volumes?: Readonly<Record<string, PointerVolume>> | undefined;
  /** What the caller has saved with it. */
  readonly metadata?: unknown;
}

/** A state of a disk that was saved. */
export interface PointerGeneration extends Content {
  /** 1 for the first one of the disk. No number is used twice. */
  readonly number: number;
  /** When it was saved, in milliseconds since 1970, by the clock of the store. */
  readonly time: number;
  readonly label?: string | undefined;
  /** The disk and the generation that a fork began from. */
  readonly parent?: ParentGeneration | undefined;
}

/** The right to save a disk. */
export interface PointerLease {
  /** Identifies the attachment. */
  readonly token: string;
  /** The name of the host, for people. */
  readonly owner: string;
  /** How long the lease is valid after the pointer was written, in milliseconds. */
  readonly duration: number;
  /** For how long the lease had not been renewed when another host last wrote the pointer, in milliseconds. */
  readonly elapsed: number;
  /** The number of the generation that the host reads. */
  readonly generation: number;
}

/** The content of a pointer. */
export interface Pointer {
  /** A random ID, which differs from that of any other disk of this name. */
  readonly id: string;
  /** How often the disk was attached. */
  readonly epoch: number;
  readonly lease: PointerLease | null;
  /** The size of the image, in bytes. */
  readonly size: number;
  /** The number of the next generation. */
  readonly next: number;
  /** In the order in which they were saved. */
  readonly generations: readonly PointerGeneration[];
  /** The number of bytes of each snapshot and base object, by identity. */
  readonly objects: Readonly<Record<string, number>>;
}

/** Returns the last generation, which the disk continues. */
export function headOf(pointer: Pointer): PointerGeneration {
  return pointer.generations.at(-1) as PointerGeneration;
}

/** Returns what a generation has, without what it is. */
export function contentOf({ digest, bases, volumes, metadata }: Content): Content {
  return { digest, bases, volumes, metadata };
}

/** Returns the snapshots of a generation: that of the disk, then those of its volumes. */
export function snapshotsOf(content: Content): PointerSnapshot[] {
  return [content, ...Object.values(content.volumes ?? {})];
}

/** Returns the identities of all objects of a generation: its snapshots, and the base objects of these. */
export function objectsOf(content: Content): string[] {
  const all = snapshotsOf(content).flatMap(({ digest, bases }) => [digest, ...bases]);
  return [...new Set(all)];
}

/** A generation to add to a pointer. */
export interface NewGeneration extends Omit<PointerGeneration, "number"> {
  /** The number of bytes of its objects, by identity. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** Returns a pointer with one more generation. If there are too many, removes the oldest ones that are not pinned. */
export function withGeneration(
  pointer: Pointer,
  { sizes, ...generation }: NewGeneration,
  isPinned: (generation: PointerGeneration) => boolean = () => false,
): Pointer {
  const generations = [...pointer.generations, { number: pointer.next, ...generation }];
  const objects = { ...pointer.objects, ...sizes };
  const next = { ...pointer, next: pointer.next + 1, objects };
  for (;;) {
    const found = withGenerations(next, generations);
    const isTooLong = serialisePointer(found).length > MAX_POINTER_LENGTH - LEASE_ROOM;
    if (generations.length <= MAX_GENERATIONS && !isTooLong) return found;
    generations.splice(
      generations.findIndex((one) => !isPinned(one)),
      1,
    );
  }
}

/** Returns a pointer with other generations, and with the sizes of their objects alone. */
export function withGenerations(
  pointer: Pointer,
  generations: readonly PointerGeneration[],
): Pointer {
  const used = new Set(generations.flatMap(objectsOf));
  const objects = Object.fromEntries(
    Object.entries(pointer.objects).filter(([digest]) => used.has(digest)),
  );
  return { ...pointer, generations, objects };
}

/** Returns the bytes of a pointer. No two calls return the same bytes, so that a writer recognises its own. */
export function serialisePointer(pointer: Pointer): Buffer {
  const revision = randomUUID();
  const isSecond = pointer.generations.some((one) => one.volumes ?? one.metadata !== undefined);
  const version = isSecond ? VOLUMES_VERSION : VERSION;
  return Buffer.from(`${JSON.stringify({ kind: KIND, version, revision, ...pointer })}\n`);
}

/** Parses a pointer. @param name of the object, for messages @throws {SnapshotError} `ERR_STORE` */
export function parsePointer(name: string, bytes: Uint8Array): Pointer {
  const fail = (expected: string): never => {
    throw new SnapshotError("ERR_STORE", `${name}: expected ${expected}`);
  };
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return fail("JSON");
  }
  const found = Object(value) as Record<string, unknown>;
  if (found.kind !== KIND) return fail(`the pointer of a disk, with the kind "${KIND}"`);
  if (found.version !== VERSION && found.version !== VOLUMES_VERSION)
    return fail(
      `version ${VERSION} or ${VOLUMES_VERSION}, found ${JSON.stringify(found.version)?.slice(0, 20)}`,
    );
  const { id, epoch, lease, size, next, generations, objects } = found;
  if (!isToken(id) || !isWhole(epoch) || !isWhole(size) || !isWhole(next))
    return fail("an id, and whole numbers for epoch, size and next");
  if (lease !== null && !isLease(lease)) return fail("a valid lease or null");
  if (!Array.isArray(generations) || generations.length === 0)
    return fail("at least one generation");
  if (generations.length > MAX_GENERATIONS || !generations.every(isGeneration))
    return fail(`at most ${MAX_GENERATIONS} valid generations`);
  const last = generations.reduce(
    (before, { number }) => (number > before ? number : Number.POSITIVE_INFINITY),
    0,
  );
  if (last >= next) return fail("generations in order, and next after them");
  const sizes = Object.entries(Object(objects) as object);
  if (!sizes.every(([digest, bytes]) => isDigest(digest) && isWhole(bytes)))
    return fail("the sizes of objects");
  const known = new Map(sizes);
  if (!generations.flatMap(objectsOf).every((digest) => known.has(digest)))
    return fail("the size of each object of its generations");
  return {
    id,
    epoch,
    size,
    next,
    lease: lease === null ? null : leaseOf(lease),
    generations: generations.map(copyOf),
    objects: Object.fromEntries(sizes),
  };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Returns whether a `Date` can hold a time. */
function isTime(value: unknown): value is number {
  return isWhole(value) && value <= 8.64e15;
}

function isToken(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f-]{36}$/.test(value);
}

/** Returns whether a value is the identity of a snapshot. */
export function isDigest(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value.length <= maxLength;
}

function isLease(value: unknown): value is PointerLease {
  const { token, owner, duration, elapsed, generation } = Object(value) as PointerLease;
  return (
    isToken(token) &&
    isText(owner, MAX_OWNER_LENGTH) &&
    [duration, elapsed, generation].every(isWhole)
  );
}

function isSnapshot(value: unknown): value is PointerSnapshot {
  const { digest, bases } = Object(value) as PointerSnapshot;
  return (
    isDigest(digest) && Array.isArray(bases) && bases.length <= MAX_BASES && bases.every(isDigest)
  );
}

function isVolumes(value: unknown): boolean {
  const volumes = Object.entries(Object(value) as Record<string, PointerVolume>);
  return (
    typeof value === "object" &&
    volumes.length <= MAX_VOLUMES &&
    volumes.every(([name, volume]) => {
      const { kind, size } = Object(volume) as PointerVolume;
      return VOLUME_NAME.test(name) && isVolumeKind(kind) && isWhole(size) && isSnapshot(volume);
    })
  );
}

/** Returns the length of metadata as JSON, in bytes. */
export function metadataLength(metadata: unknown): number {
  return Buffer.byteLength(JSON.stringify(metadata));
}

function isGeneration(value: unknown): value is PointerGeneration {
  const { number, time, label, parent, volumes, metadata } = Object(value) as PointerGeneration;
  return (
    isSnapshot(value) &&
    isWhole(number) &&
    isTime(time) &&
    (volumes === undefined || isVolumes(volumes)) &&
    (metadata === undefined || metadataLength(metadata) <= MAX_METADATA_LENGTH) &&
    (label === undefined || isText(label, MAX_LABEL_LENGTH)) &&
    (parent === undefined || (isText(Object(parent).name, 128) && isWhole(parent.generation)))
  );
}

/** Copies the known members: others may be of later versions of the program. */
function leaseOf({ token, owner, duration, elapsed, generation }: PointerLease): PointerLease {
  return { token, owner, duration, elapsed, generation };
}

function copyOf(found: PointerGeneration): PointerGeneration {
  const { number, digest, bases, time, label, parent, volumes, metadata } = found;
  return {
    number,
    digest,
    bases: [...bases],
    time,
    ...(label !== undefined && { label }),
    ...(parent && { parent: { name: parent.name, generation: parent.generation } }),
    ...(volumes && { volumes: copiesOf(volumes) }),
    ...(metadata !== undefined && { metadata }),
  };
}

function copiesOf(volumes: Readonly<Record<string, PointerVolume>>): Record<string, PointerVolume> {
  const copies = Object.entries(volumes).map(([name, { kind, size, digest, bases }]) => {
    return [name, { kind, size, digest, bases: [...bases] }] as const;
  });
  return Object.fromEntries(copies);
}
