/** The pointer of a disk: a small JSON object with its generations, and with the lease of the host that may save it. */

import { randomUUID } from "node:crypto";
import { invalid } from "../check.js";
import { SnapshotError } from "../error.js";

/** The maximum length of a pointer, in bytes. */
export const MAX_POINTER_LENGTH = 2 ** 21;

/** The maximum number of generations of a disk: the next save removes the oldest one. */
export const MAX_GENERATIONS = 1_000;

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

/** The kind and version of pointers. */
const KIND = "hedgerow disk";
const VERSION = 1;

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

/** A state of a disk that was saved. */
export interface PointerGeneration {
  /** 1 for the first one of the disk. No number is used twice. */
  readonly number: number;
  /** The identity of its snapshot. */
  readonly digest: string;
  /** The identities of the base objects of the snapshot. */
  readonly bases: readonly string[];
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

/** Returns the identities of all objects of a generation: its snapshot, and the base objects of that. */
export function objectsOf({ digest, bases }: PointerGeneration): string[] {
  return [digest, ...bases];
}

/** A generation to add to a pointer. */
export interface NewGeneration extends Omit<PointerGeneration, "number"> {
  /** The number of bytes of its objects, by identity. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** Returns a pointer with one more generation. If there are too many, removes the oldest one that is not pinned. */
export function withGeneration(
  pointer: Pointer,
  { sizes, ...generation }: NewGeneration,
  isPinned: (generation: PointerGeneration) => boolean = () => false,
): Pointer {
  const generations = [...pointer.generations, { number: pointer.next, ...generation }];
  if (generations.length > MAX_GENERATIONS)
    generations.splice(
      generations.findIndex((one) => !isPinned(one)),
      1,
    );
  const objects = { ...pointer.objects, ...sizes };
  return withGenerations({ ...pointer, next: pointer.next + 1, objects }, generations);
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
  return Buffer.from(`${JSON.stringify({ kind: KIND, version: VERSION, revision, ...pointer })}\n`);
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
  if (found.version !== VERSION)
    return fail(`version ${VERSION}, found ${JSON.stringify(found.version)?.slice(0, 20)}`);
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

function isGeneration(value: unknown): value is PointerGeneration {
  const { number, digest, bases, time, label, parent } = Object(value) as PointerGeneration;
  return (
    isWhole(number) &&
    isDigest(digest) &&
    Array.isArray(bases) &&
    bases.length <= MAX_BASES &&
    bases.every(isDigest) &&
    isTime(time) &&
    (label === undefined || isText(label, MAX_LABEL_LENGTH)) &&
    (parent === undefined || (isText(Object(parent).name, 128) && isWhole(parent.generation)))
  );
}

/** Copies the known members: others may be of later versions of the program. */
function leaseOf({ token, owner, duration, elapsed, generation }: PointerLease): PointerLease {
  return { token, owner, duration, elapsed, generation };
}

function copyOf(found: PointerGeneration): PointerGeneration {
  const { number, digest, bases, time, label, parent } = found;
  return {
    number,
    digest,
    bases: [...bases],
    time,
    ...(label === undefined ? {} : { label }),
    ...(parent === undefined
      ? {}
      : { parent: { name: parent.name, generation: parent.generation } }),
  };
}
