/** Tries on a real place what restores, snapshots and stores of disks need of it. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";

import { type Checks, checkOptions, SIGNAL } from "../check.js";
import { messageOf, SnapshotError } from "../error.js";
import { RequestFailure } from "../http/failure.js";
import { get } from "../http/get.js";
import { type TransferOptions, transferOf } from "../http/transfer.js";
import { type Location, locationOf, safeLocation } from "../location/location.js";
import { closeObjects, type OpenedObject, openObject } from "../location/open-object.js";
import { requestAt } from "../location/request-at.js";
import type { StoreObjects } from "./objects.js";
import { objectsAt, STORE_TRANSFER_CHECKS } from "./open-store.js";

/** What a place is used for: to restore snapshots, to create them, or as a store of disks. */
export type StoreUse = "restore" | "create" | "disks";

/** A guarantee that was tried. */
export interface StoreCheck {
  /** The guarantee, in words. */
  readonly name: string;
  /** What needs it. Empty if nothing does, but it saves time or is safer. */
  readonly uses: readonly StoreUse[];
  /** Whether it holds. */
  readonly ok: boolean;
  /** How long the check took, in milliseconds. */
  readonly time: number;
  /** What was found: what differs, or a measurement. */
  readonly found?: string;
}

/** The result of {@link checkStore}. */
export interface StoreReport {
  /** The path or URL of the place, without secrets. */
  readonly place: string;
  /** The checks, in the order in which they ran. */
  readonly checks: readonly StoreCheck[];
  /** Which uses have all that they need. */
  readonly works: Readonly<Record<StoreUse, boolean>>;
}

/** Options of {@link checkStore}. */
export interface CheckStoreOptions extends Omit<TransferOptions, "headers"> {
  /** Aborts the checks. What they wrote is removed. */
  readonly signal?: AbortSignal | undefined;
}

const CHECKS: Checks<CheckStoreOptions> = { ...STORE_TRANSFER_CHECKS, signal: SIGNAL };

/** The length of the object that is read in ranges, in bytes: uploads have several parts. */
const LARGE = 11 * 2 ** 20;

/** The longest time between a write and the time of the service that is not a fault, in milliseconds. */
const MAX_DELAY = 60_000;

/** How long to wait for removals at the end, in milliseconds. */
const CLEANING = 30_000;

const DISKS = ["disks"] as const;
const ALL = ["restore", "create", "disks"] as const;

/** What the checks work with. */
interface Trial {
  readonly objects: StoreObjects;
  readonly options: CheckStoreOptions;
  /** The keys that the checks have written. */
  readonly keys: Set<string>;
}

/** Tries a guarantee. Returns what differs from it; an object holds a measurement. */
type Attempt = (trial: Trial) => Promise<string | { readonly found: string } | undefined>;

const text = (words: string) => Buffer.from(`${JSON.stringify(words)}\n`);

/** The bytes of the large object. */
const large = () => randomBytes(LARGE);

const OBJECT = "disks/check.json";
const CONTENT = `snapshots/${"0".repeat(64)}.vhs`;

/** The guarantees in the order in which they are tried: later ones use what earlier ones wrote. */
const GUARANTEES: readonly [name: string, uses: readonly StoreUse[], attempt: Attempt][] = [
  [
    "creates an object if there is none",
    ["create", "disks"],
    async (trial) => {
      const { tag } = await write(trial, OBJECT, "first", undefined);
      return tag === undefined ? "refused, though there is none" : undefined;
    },
  ],
  [
    "refuses to create an object that exists",
    DISKS,
    async (trial) => {
      const { tag } = await write(trial, OBJECT, "again", undefined);
      return tag === undefined ? undefined : "replaced it: If-None-Match is ignored";
    },
  ],
  [
    "reads what was written",
    ALL,
    async ({ objects }) => {
      const found = await objects.read(OBJECT, 100);
      return found?.bytes.equals(text("first")) ? undefined : different(found?.bytes);
    },
  ],
  [
    "replaces an object that has not changed",
    DISKS,
    async (trial) => {
      const found = await trial.objects.read(OBJECT, 100);
      const { tag } = await write(trial, OBJECT, "second", found?.tag ?? "");
      if (tag === undefined) return "refused, though it has not changed";
      const { bytes } = (await trial.objects.read(OBJECT, 100)) ?? {};
      return bytes?.equals(text("second")) ? undefined : `then read ${different(bytes)}`;
    },
  ],
  [
    "refuses to replace an object that has changed",
    DISKS,
    async (trial) => {
      const { tag } = await write(trial, OBJECT, "third", trial.objects.unusedTag);
      return tag === undefined ? undefined : "replaced it: If-Match is ignored";
    },
  ],
  [
    "lists what was written",
    DISKS,
    async (trial) => {
      const keys = Array.from({ length: 3 }, (_, at) => `disks/list-${at}.json`);
      for (const key of keys) await write(trial, key, key, undefined);
      const found: string[] = [];
      for await (const { key } of trial.objects.list("disks/list-", keys[0])) found.push(key);
      const expected = keys.slice(1).join(", ");
      return found.join(", ") === expected
        ? undefined
        : `expected ${expected}, found ${found.join(", ") || "nothing"}`;
    },
  ],
  [
    "removes an object that has not changed",
    DISKS,
    async ({ objects }) => {
      const { tag = "" } = (await objects.read(OBJECT, 100)) ?? {};
      const isStale = await objects.remove(OBJECT, objects.unusedTag);
      if (isStale) return "removed it, though it has changed";
      if (!(await objects.remove(OBJECT, tag))) return "refused, though it has not changed";
      return (await objects.size(OBJECT)) === undefined ? undefined : "it is still there";
    },
  ],
  [
    "tells its time",
    DISKS,
    async (trial) => {
      await write(trial, OBJECT, "time", undefined);
      const [now, found] = [await trial.objects.now(), await trial.objects.read(OBJECT, 100)];
      if (now === 0) return "responses have no Date: hosts that died keep their disks";
      const delay = now - (found?.modified ?? Number.NaN);
      if (!(Math.abs(delay) < MAX_DELAY))
        return `it differs from the time of objects by ${delay} ms`;
      return {
        found: `${((now - Date.now()) / 1000).toFixed(1)} s from the clock of this machine`,
      };
    },
  ],
  [
    "stores large objects in parts",
    ["create", "disks"],
    async ({ objects, keys, options }) => {
      const bytes = large();
      keys.add(CONTENT);
      const isNew = await publish(objects, CONTENT, bytes, options);
      if (!isNew) return "refused, though there is none";
      const size = await objects.size(CONTENT);
      if (size !== LARGE) return `expected ${LARGE} bytes, found ${size}`;
      const isSame = await holds(objects, CONTENT, bytes, options);
      return isSame ? undefined : "it has other bytes";
    },
  ],
  [
    "refuses to replace a large object",
    DISKS,
    async ({ objects, options }) => {
      const isNew = await publish(objects, CONTENT, large(), options);
      return isNew ? "replaced it: conditions of uploads in parts are ignored" : undefined;
    },
  ],
  [
    "serves ranges of objects",
    ["restore", "disks"],
    async ({ objects, options }) => {
      const opened = await openAt(objects.location(CONTENT), options);
      if (!("read" in opened)) return "it sends whole objects: restores download in one stream";
      await closeObjects([opened]);
      return undefined;
    },
  ],
  [
    // Every response says which object it is of, too.
    "refuses a range of an object that was replaced",
    [],
    async ({ objects, options }) => {
      const location = objects.location(CONTENT);
      if (location.kind === "file") return undefined;
      const { request } = await requestAt(location, options);
      const headers = { range: "bytes=0-9", "if-match": '"0"' };
      const status = await get(
        request,
        headers,
        transferOf(options),
        options.signal,
        async (open) => Number(open.response.statusCode),
      );
      return status === 412 ? undefined : `HTTP ${status}: If-Match of GET is ignored`;
    },
  ],
  [
    "keeps empty objects",
    ["create"],
    async ({ objects, keys, options }) => {
      const key = `snapshots/${"1".repeat(64)}.vhs`;
      keys.add(key);
      await publish(objects, key, Buffer.alloc(0), options);
      const size = await objects.size(key);
      return size === 0 ? undefined : `expected 0 bytes, found ${size ?? "nothing"}`;
    },
  ],
  [
    "keeps long names, and names with any characters",
    ["create"],
    async (trial) => {
      const key = `disks/${"é +%&=ß".repeat(16)}.json`;
      await write(trial, key, "long", undefined);
      const found = await trial.objects.read(key, 100);
      return found?.bytes.equals(text("long")) ? undefined : different(found?.bytes);
    },
  ],
  [
    "copies objects within the service",
    [],
    async ({ objects, keys, options }) => {
      const source = objects.location(CONTENT);
      if (source.kind !== "object") return "copies are made by this machine";
      const opened = await openAt(source, options);
      await closeObjects([opened]);
      const etag = "version" in opened ? opened.version.etag : undefined;
      if (etag === undefined) return "objects have no ETag";
      const key = `snapshots/${"2".repeat(64)}.vhs`;
      keys.add(key);
      const isCopied = await objects.copy(key, { location: source, etag }, LARGE, options.signal);
      return isCopied ? undefined : "copies go through this machine";
    },
  ],
];

/**
 * Tries what restores, snapshots and stores of disks need of a place, with temporary objects below it, which are removed
 * again. About 11 MiB are uploaded, twice, and read.
 *
 * @param location the path of a folder, or the URL of an object service, such as `s3://bucket/key`
 * @throws {SnapshotError} `ERR_ARGUMENT`; `ERR_STORE` if the place cannot be used at all
 *
 * @example
 * const { works, checks } = await checkStore("s3://my-bucket/disks");
 * for (const { name, ok, found } of checks) console.log(ok ? "yes" : "NO", name, found ?? "");
 */
export async function checkStore(
  location: string | URL,
  options: CheckStoreOptions = {},
): Promise<StoreReport> {
  options = checkOptions(options, CHECKS);
  const place = locationOf("location", location);
  const objects = await objectsAt(belowPlace(place), { options, create: true });
  const trial: Trial = { objects, options, keys: new Set() };
  try {
    const checks: StoreCheck[] = [];
    for (const [name, uses, attempt] of GUARANTEES) {
      options.signal?.throwIfAborted();
      checks.push({ name, uses, ...(await timed(() => attempt(trial))) });
    }
    const works = (use: StoreUse) => checks.every(({ uses, ok }) => ok || !uses.includes(use));
    return {
      place: safeLocation(place),
      checks,
      works: { restore: works("restore"), create: works("create"), disks: works("disks") },
    };
  } finally {
    await clean(trial);
  }
}

/** Returns the location of a temporary store below a place. */
function belowPlace(place: Location): Location {
  const name = `.check-${randomUUID()}`;
  switch (place.kind) {
    case "file":
      return { ...place, path: join(place.path, name) };
    case "object":
      return { ...place, key: `${place.key}/${name}` };
    case "http":
      return place;
  }
}

async function clean({ objects, keys }: Trial): Promise<void> {
  try {
    for (const key of keys) await objects.delete(key, CLEANING);
    const root = objects.location("");
    if (root.kind === "file") await rm(root.path, { recursive: true, force: true });
  } finally {
    objects.close();
  }
}

async function timed(
  attempt: () => ReturnType<Attempt>,
): Promise<Omit<StoreCheck, "name" | "uses">> {
  const begun = performance.now();
  try {
    const result = await attempt();
    const time = performance.now() - begun;
    if (result === undefined) return { ok: true, time };
    return typeof result === "string"
      ? { ok: false, time, found: result }
      : { ok: true, time, found: result.found };
  } catch (error) {
    if (!(error instanceof SnapshotError || error instanceof RequestFailure)) throw error;
    return { ok: false, time: performance.now() - begun, found: messageOf(error) };
  }
}

function write({ objects, keys }: Trial, key: string, words: string, tag: string | undefined) {
  keys.add(key);
  return objects.write(key, text(words), tag);
}

/** Stores bytes under a key, unless there is an object. Returns whether it did. */
function publish(
  objects: StoreObjects,
  key: string,
  bytes: Uint8Array,
  { signal }: CheckStoreOptions,
): Promise<boolean> {
  return objects.create(async (object) => {
    await object.handle.writeFile(bytes);
    return object.publish(key, signal);
  });
}

async function openAt(location: Location, options: CheckStoreOptions): Promise<OpenedObject> {
  return openObject(location, { options, transfer: transferOf(options), prefixLength: 0 });
}

/** Returns whether an object has some bytes. It is read in ranges that overlap its parts. */
async function holds(
  objects: StoreObjects,
  key: string,
  bytes: Buffer,
  options: CheckStoreOptions,
): Promise<boolean> {
  const opened = await openAt(objects.location(key), options);
  // The check of ranges says so.
  if (!("read" in opened)) return true;
  const hash = (part: Uint8Array) => createHash("sha256").update(part).digest("hex");
  try {
    const step = 2 ** 21;
    for (let at = 0; at < bytes.length; at += step) {
      const expected = bytes.subarray(at, at + step);
      if (hash(await opened.read(at, expected.length)) !== hash(expected)) return false;
    }
    return true;
  } finally {
    await closeObjects([opened]);
  }
}

function different(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "there is nothing" : "it has other bytes";
}
