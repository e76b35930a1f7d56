import type { ImageCache } from "../cache/image-cache.js";
import { SnapshotError } from "../error.js";
import { checkBooleans } from "./check-booleans.js";
import { checkInteger } from "./check-integer.js";
import { checkFunction } from "./check-types.js";
import { type CreateOptions, checkFormat } from "./create-options.js";
import { type Duration, durationOf } from "./duration.js";
import type { OpenOptions } from "./open-options.js";
import { checkObject } from "./read-options.js";
import type { SaveOptions } from "./save-options.js";
import { type TransferOptions, transferOf } from "./transfer-options.js";
import { checkWork, type ReadOptions, type WorkOptions } from "./work-options.js";

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
  /** Whether to make a store if the place is none. Default: `true`. */
  readonly create?: boolean | undefined;
  /** The name of this host in leases, which other hosts see. Default: the host name and the process ID. */
  readonly owner?: string | undefined;
  /**
   * How long a disk in an object store stays attached to a host that no longer renews its lease, 1 second to a day. In a
   * folder, the lease ends with the process. A host checks its leases each time a third of this has passed. Default:
   * `"30s"`.
   */
  readonly lease?: Duration | undefined;
  /** Aborts opening. */
  readonly signal?: AbortSignal | undefined;
}

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

/**
 * Freezes the programs that use a disk, or thaws them.
 *
 * @param signal aborted when the hook has taken too long, and for `freeze` also when the save is aborted
 */
export type Hook = (signal: AbortSignal) => unknown;

/** Options of all saves of an attached disk. */
export interface HookOptions {
  /**
   * Called before the changes are copied: flush and freeze the file systems of the disk, or pause the virtual machine. If
   * it fails, nothing is saved. Default: none; the save has what a power failure would leave.
   */
  readonly freeze?: Hook | undefined;
  /** Called as soon as the changes are copied, and also if `freeze` or the copy has failed. Default: none. */
  readonly thaw?: Hook | undefined;
  /** How long each hook may take, 1 ms to a day. Default: `"10s"`. */
  readonly hookTimeout?: Duration | undefined;
}

/** Options of `DiskStore.attach`. */
export interface AttachOptions
  extends Omit<
      OpenOptions,
      "image" | "cache" | "digest" | "resolve" | "readOnly" | keyof TransferOptions
    >,
    HookOptions {
  /** Whether to attach a disk that another host has attached, which then can no longer save it. Default: `false`. */
  readonly steal?: boolean | undefined;
  /** How often the disk is saved if it has changed, 1 second or more. Default: only when it is detached. */
  readonly saveEvery?: Duration | undefined;
}

/** Options of `AttachedDisk.save`. */
export interface SaveDiskOptions
  extends Omit<SaveOptions, "overwrite" | "resolve" | keyof TransferOptions>,
    HookOptions {
  /** A note on the generation, at most 256 characters. Default: none. */
  readonly label?: string | undefined;
}

/** Options of `AttachedDisk.detach`. */
export interface DetachOptions extends SaveDiskOptions {
  /** Whether to save what has changed; `false` discards it. Default: `true`. */
  readonly save?: boolean | undefined;
}

/** Options of `DiskStore.fork` and `DiskStore.verify`. */
export interface GenerationOptions {
  /** The number of a generation. Default: the last one. */
  readonly generation?: number | undefined;
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `DiskStore.list`. */
export interface ListOptions {
  /** The beginning of the names. Default: all names. */
  readonly prefix?: string | undefined;
  /** The name after which the list begins. Default: from the first. */
  readonly after?: string | undefined;
  /** Aborts the list. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `DiskStore.expire`: at least one of `keepLast` and `olderThan`. */
export interface ExpireOptions {
  /** The disk whose generations expire. Default: all disks. */
  readonly name?: string | undefined;
  /** The number of generations of each disk that stay in any case, 1 or more. Default: 1. */
  readonly keepLast?: number | undefined;
  /** The age from which generations expire. Default: any age. */
  readonly olderThan?: Duration | undefined;
  /** Whether to change nothing, and only return what would expire. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `DiskStore.collect`. */
export interface CollectOptions {
  /**
   * How long a snapshot must have been marked as not needed before it is deleted. It must be longer than any save or
   * creation takes. Default: `"24h"`.
   */
  readonly grace?: Duration | undefined;
  /** Whether to change nothing, and only return what would be deleted. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
}

/** The maximum length of names, owners and labels, in characters. */
export const MAX_NAME_LENGTH = 128;
export const MAX_OWNER_LENGTH = 256;
export const MAX_LABEL_LENGTH = 256;

/** The bounds of a lease, in milliseconds, and its default. */
const [MIN_LEASE, MAX_LEASE, LEASE] = [1_000, 86_400_000, 30_000];

const [MAX_HOOK_TIMEOUT, HOOK_TIMEOUT] = [86_400_000, 10_000];

/** The shortest interval of saves, in milliseconds. */
const MIN_SAVE_INTERVAL = 1_000;

/** The default of `grace`, in milliseconds: a day. */
const GRACE = 86_400_000;

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkStore(options: StoreOptions): { readonly lease: number } {
  checkWork(options);
  transferOf(options);
  checkBooleans(options, ["create"]);
  checkText("owner", options.owner, MAX_OWNER_LENGTH);
  return { lease: durationOf("lease", options.lease ?? LEASE, MIN_LEASE, MAX_LEASE) };
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkNewDisk(options: NewDiskOptions): void {
  checkWork(options);
  checkText("label", options.label, MAX_LABEL_LENGTH);
  const given = (["from", "image", "size"] as const).filter((key) => options[key] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? "none" : given.join(" and ");
    const message = `options: expected one of from, image and size, found ${found}`;
    throw new SnapshotError("ERR_ARGUMENT", message);
  }
  checkFormat(options);
}

/** Hooks with their timeout, in milliseconds. */
export interface Hooks {
  readonly freeze: Hook | undefined;
  readonly thaw: Hook | undefined;
  readonly timeout: number;
}

/** Returns the hooks of a save, which default to those of the attached disk. @throws {SnapshotError} `ERR_ARGUMENT` */
export function hooksOf(options: HookOptions, defaults?: Hooks): Hooks {
  for (const name of ["freeze", "thaw"] as const) checkFunction(name, options[name]);
  const { freeze = defaults?.freeze, thaw = defaults?.thaw, hookTimeout } = options;
  const timeout = hookTimeout ?? defaults?.timeout ?? HOOK_TIMEOUT;
  return { freeze, thaw, timeout: durationOf("hookTimeout", timeout, 1, MAX_HOOK_TIMEOUT) };
}

/** Returns the interval of automatic saves, in milliseconds. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkAttach(options: AttachOptions): number | undefined {
  checkBooleans(options, ["steal"]);
  if (options.saveEvery === undefined) return undefined;
  return durationOf("saveEvery", options.saveEvery, MIN_SAVE_INTERVAL);
}

/** Returns checked options with their defaults. @throws {SnapshotError} `ERR_ARGUMENT` */
export function expiryOf(options: ExpireOptions): { keepLast: number; olderThan: number } {
  checkWork(options);
  checkBooleans(options, ["dryRun"]);
  const { keepLast, olderThan } = options;
  if (keepLast === undefined && olderThan === undefined) {
    throw new SnapshotError(
      "ERR_ARGUMENT",
      "options: expected keepLast or olderThan, found neither",
    );
  }
  if (keepLast !== undefined) checkInteger("keepLast", keepLast, 1, Number.MAX_SAFE_INTEGER);
  return { keepLast: keepLast ?? 1, olderThan: durationOf("olderThan", olderThan ?? 0) };
}

/** Returns the grace period, in milliseconds. @throws {SnapshotError} `ERR_ARGUMENT` */
export function graceOf(options: CollectOptions): number {
  checkWork(options);
  checkBooleans(options, ["dryRun"]);
  return durationOf("grace", options.grace ?? GRACE);
}

/** Checks the number of a generation. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkGeneration(options: GenerationOptions): void {
  checkObject("options", options);
  checkWork(options);
  if (options.generation !== undefined)
    checkInteger("generation", options.generation, 1, Number.MAX_SAFE_INTEGER);
}

/** Checks optional text. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkText(name: string, value: unknown, maxLength: number): void {
  if (value === undefined) return;
  if (
    typeof value === "string" &&
    value.length <= maxLength &&
    !/\p{Control}|\p{Surrogate}/u.test(value)
  )
    return;
  const found = typeof value === "string" ? `${value.length} characters` : typeof value;
  const expected = `at most ${maxLength} characters without control characters`;
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected ${expected}, found ${found}`);
}

/**
 * Matches names of disks. They become names of files and keys of objects, so they have no separator, and no character
 * that a file system or URL treats in a special way.
 */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Returns different names. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedNames(names: string | readonly string[]): readonly string[] {
  if (typeof names === "string") return [checkedName(names)];
  // A copy, which stays as it was checked.
  const copy = Array.isArray(names) ? Array.from(names, checkedName) : undefined;
  if (copy !== undefined && copy.length === new Set(copy).size) return copy;
  throw new SnapshotError("ERR_ARGUMENT", "forks: expected a name, or different names in an array");
}

/** Returns the name of a disk. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedName(name: unknown): string {
  if (typeof name === "string" && name.length <= MAX_NAME_LENGTH && NAME.test(name)) return name;
  const found =
    typeof name === "string" ? JSON.stringify(name.slice(0, 2 * MAX_NAME_LENGTH)) : typeof name;
  const expected = `1 to ${MAX_NAME_LENGTH} letters, digits, ".", "_" or "-", of which the first is a letter or digit`;
  throw new SnapshotError("ERR_ARGUMENT", `name: expected ${expected}, found ${found}`);
}
