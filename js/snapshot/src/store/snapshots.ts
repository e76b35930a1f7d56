/** The snapshots of a store, each under its identity. */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { checkPinned } from "../check.js";
import { DecodeJob } from "../decode/decode-job.js";
import type { SavedDelta } from "../disk/save-disk.js";
import type { EncodeJob } from "../encode/encode-image.js";
import { SnapshotError } from "../error.js";
import { type Manifest, readManifest, type SnapshotInfo } from "../format/manifest.js";
import { downloadInto } from "../http/get.js";
import { transferOf } from "../http/transfer.js";
import { copyInto } from "../local/copy-image.js";
import { SnapshotFile } from "../local/open-file.js";
import { baseLocation, optionsFor, type Resolve } from "../location/base-objects.js";
import { type Location, safeLocation } from "../location/location.js";
import { requestAt } from "../location/request-at.js";
import {
  decodeFrom,
  openSource,
  type ReadOptions,
  type ReadWorkOptions,
  type Source,
} from "../location/source.js";
import { fillSnapshotFile } from "../location/write-snapshot.js";
import type { ListedObject } from "../services/object-service.js";
import type { NewObject, StoreObjects } from "./objects.js";
import { type Tombstone, Tombstones } from "./tombstones.js";

/** The folder of the snapshots, and the suffixes of a snapshot and of its trace. */
const FOLDER = "snapshots/";
const SUFFIX = ".vhs";
const TRACE = ".vhs.trace";

/** How long a collection may take to delete a snapshot that it has claimed, in milliseconds. */
const CLAIM_TIMEOUT = 60_000;

/** After how long another process may take over the claim, in milliseconds: no request of the first one can still arrive. */
const TAKEOVER = 300_000;

/** How long to wait for a snapshot that is being deleted, in milliseconds. */
const MAX_WAIT = 30_000;

/** How long to wait between attempts, in milliseconds. */
const INTERVAL = 200;

/** The identity of a snapshot, and its objects. */
export interface StoredSnapshot {
  readonly digest: string;
  readonly imageSize: number;
  /** The identities of its base objects. */
  readonly bases: readonly string[];
  /** The number of bytes of each of its objects, by identity. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** A snapshot that is being created. */
export interface NewSnapshot {
  /** Writes it to a local file. */
  write(making: EncodeJob): Promise<SnapshotInfo>;
  /** Stores it under its identity. */
  publish(info: SnapshotInfo, signal: AbortSignal | undefined): Promise<SavedDelta>;
}

/** A snapshot in a list. */
export interface ListedSnapshot {
  readonly digest: string;
  /** The number of bytes of the snapshot and of its trace. */
  readonly size: number;
}

/** The snapshots of a store. */
export class Snapshots {
  readonly tombstones: Tombstones;

  constructor(readonly objects: StoreObjects) {
    this.tombstones = new Tombstones(objects);
  }

  /** Returns the location of a snapshot. */
  location(digest: string): Location {
    return this.objects.location(keyOf(digest));
  }

  /** Returns the locations of base objects, whatever the references in a delta say. */
  readonly resolve: Resolve = (digest) => safeLocation(this.location(digest));

  /** The location that references of a new snapshot are relative to. */
  get newLocation(): Location {
    return this.objects.location(`${FOLDER}.new-${randomUUID()}`);
  }

  /**
   * Removes the tombstones of snapshots, so that no collection deletes them before a pointer refers to them.
   *
   * @returns their sizes, or undefined for those that are not there
   * @throws {SnapshotError} `ERR_STORE`
   */
  async adopt(digests: readonly string[], signal?: AbortSignal): Promise<(number | undefined)[]> {
    return Promise.all(
      digests.map(async (digest) => {
        await this.#unmark(digest, signal);
        // Before that, a collection could still have deleted the snapshot.
        return this.objects.size(keyOf(digest), signal);
      }),
    );
  }

  /** Does the same for snapshots that must be there. @throws {SnapshotError} `ERR_STORE` */
  async adoptAll(digests: readonly string[], signal?: AbortSignal): Promise<void> {
    this.#checkFound(digests, await this.adopt(digests, signal));
  }

  /** Throws if one of some snapshots is missing. @throws {SnapshotError} `ERR_STORE` */
  async checkAll(digests: readonly string[], signal?: AbortSignal): Promise<void> {
    const sizes = digests.map((digest) => this.size(digest, signal));
    this.#checkFound(digests, await Promise.all(sizes));
  }

  /**
   * Calls `use` with a new snapshot, which is first written to a local file: its identity is known at the end.
   *
   * @throws {SnapshotError} `ERR_STORE`, and what `use` throws
   */
  create<T>(use: (snapshot: NewSnapshot) => Promise<T>): Promise<T> {
    return this.objects.create((object) => {
      let manifest: Manifest | undefined;
      return use({
        write: async (making) => {
          manifest = await fillSnapshotFile(object.path, object.handle, making);
          return manifest.info;
        },
        publish: async ({ digest, fileSize }, signal) => {
          await this.#publish(object, digest, fileSize, signal);
          return { location: this.location(digest), manifest };
        },
      });
    });
  }

  /**
   * Copies a snapshot and its base objects into the store. Verifies them, unless the service of the store copies them.
   *
   * @throws {SnapshotError} `ERR_STORE`, and what `restoreSnapshot` throws
   */
  async import(from: Location, options: ReadWorkOptions): Promise<StoredSnapshot> {
    const source = await openSource(from, { options, wanted: "info" });
    try {
      const { info } = await source.manifest();
      checkPinned(source.name, options.digest, info.digest);
      for (const object of info.delta?.objects ?? []) {
        const location = await baseLocation(from, object, options);
        const own = optionsFor(from, location, options);
        const base = await openSource(location, { options: own, wanted: "info" });
        try {
          await this.#copy(location, base, object.digest, object.size, options);
        } finally {
          await base.close();
        }
      }
      await this.#copy(from, source, info.digest, info.fileSize, options);
      return storedOf(info);
    } finally {
      await source.close();
    }
  }

  /** Yields the snapshots whose digests begin with a prefix, in their order. */
  async *list(prefix: string, signal?: AbortSignal): AsyncGenerator<ListedSnapshot> {
    let last: ListedSnapshot | undefined;
    for await (const { key, size } of this.objects.list(FOLDER + prefix, undefined, signal)) {
      const digest = digestIn({ key, size });
      if (digest === undefined) continue;
      if (last?.digest === digest) {
        last = { digest, size: last.size + size };
      } else {
        if (last !== undefined) yield last;
        last = { digest, size };
      }
    }
    if (last !== undefined) yield last;
  }

  /** Returns the size of a snapshot, or undefined if it is not there. */
  size(digest: string, signal?: AbortSignal): Promise<number | undefined> {
    return this.objects.size(keyOf(digest), signal);
  }

  /** Throws if a snapshot is missing or has another size. @throws {SnapshotError} `ERR_STORE` */
  async check(
    digest: string,
    size: number,
    signal: AbortSignal | undefined,
    known?: number,
  ): Promise<void> {
    const found = known ?? (await this.size(digest, signal));
    if (found === size) return;
    const message = `${safeLocation(this.location(digest))}: expected ${size} bytes, found ${found ?? "nothing"}`;
    throw new SnapshotError("ERR_STORE", message);
  }

  /**
   * Deletes a snapshot that nothing refers to, if its tombstone is still the given one. Returns whether it did.
   *
   * @throws {SnapshotError} `ERR_STORE`
   */
  async delete(digest: string, tombstone: Tombstone): Promise<boolean> {
    if (!(await this.#mayClaim(tombstone))) return false;
    // The claim may have been written long before its response arrives.
    const end = performance.now() + CLAIM_TIMEOUT;
    const claim = await this.tombstones.claim(digest, tombstone);
    if (claim === undefined) return false;
    for (const suffix of [TRACE, SUFFIX]) {
      // Later, another process may have taken over, and the snapshot may be in use again.
      const left = Math.floor(end - performance.now());
      const isCertain =
        left > 0 && (await this.objects.delete(`${FOLDER}${digest}${suffix}`, left));
      // Keep the claim, so that no process stores the snapshot again while a request may still arrive.
      if (!isCertain) return false;
    }
    return this.tombstones.remove(digest, claim);
  }

  /** Returns whether this process may claim a snapshot: no other one is deleting it. */
  async #mayClaim({ state, modified }: Tombstone): Promise<boolean> {
    return state === "marked" || (await this.objects.now()) - modified > TAKEOVER;
  }

  /**
   * Removes the tombstone of a snapshot. After that, no collection deletes it for the grace period, if it is still there.
   *
   * @throws {SnapshotError} `ERR_STORE`
   */
  async #unmark(digest: string, signal: AbortSignal | undefined): Promise<void> {
    const end = performance.now() + MAX_WAIT;
    while (performance.now() < end) {
      const found = await this.tombstones.read(digest, signal);
      if (found === undefined) return;
      if (found.state === "marked") {
        if (await this.tombstones.remove(digest, found.tag)) return;
      } else if (!(await this.#mayClaim(found)) || !(await this.delete(digest, found))) {
        await sleep(INTERVAL, undefined, { signal });
      }
    }
    const message = `${this.objects.name}: snapshot ${digest} is being deleted; try again in ${TAKEOVER / 60_000} minutes`;
    throw new SnapshotError("ERR_STORE", message);
  }

  #checkFound(digests: readonly string[], sizes: readonly (number | undefined)[]): void {
    const missing = digests.find((_, at) => sizes[at] === undefined);
    if (missing === undefined) return;
    const message = `${this.objects.name}: snapshot ${missing} is missing`;
    throw new SnapshotError("ERR_STORE", message);
  }

  async #publish(
    object: NewObject,
    digest: string,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.#unmark(digest, signal);
    // If the snapshot is there already, it must be the same.
    if (!(await object.publish(keyOf(digest), signal))) await this.check(digest, size, signal);
  }

  /** Copies one object into the store, unless it is there. */
  async #copy(
    from: Location,
    source: Source,
    digest: string,
    size: number,
    options: ReadWorkOptions,
  ): Promise<void> {
    const { signal } = options;
    checkPinned(source.name, digest, (await source.manifest()).info.digest);
    const [found] = await this.adopt([digest], signal);
    const isCopied =
      found === undefined && (await this.#copyRemote(from, source, digest, size, signal));
    if (found !== undefined || isCopied) return this.check(digest, size, signal, found);
    await this.objects.create(async (object) => {
      await download(from, object, options);
      const copy = await SnapshotFile.of(source.name, object.handle);
      const manifest = await readManifest(copy, true);
      checkPinned(source.name, digest, manifest.info.digest);
      // Other disks with the same content will use this copy, too.
      const isOwn = (frame: number) => manifest.frames.object(frame) === 0;
      const job = new DecodeJob(source.name, manifest, undefined, isOwn);
      await decodeFrom([copy], transferOf(options), job, options, undefined);
      await this.#publish(object, digest, size, signal);
    });
  }

  /** Has the service of the store copy an object. Returns whether it did. */
  async #copyRemote(
    from: Location,
    { etag }: Source,
    digest: string,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (from.kind !== "object" || etag === undefined) return false;
    return this.objects.copy(keyOf(digest), { location: from, etag }, size, signal);
  }
}

/** Returns the part of the properties of a snapshot that a pointer has. */
export function storedOf({ digest, imageSize, fileSize, delta }: SnapshotInfo): StoredSnapshot {
  const objects = delta?.objects ?? [];
  const sizes = Object.fromEntries(objects.map((object) => [object.digest, object.size]));
  const bases = objects.map((object) => object.digest);
  return { digest, imageSize, bases, sizes: { ...sizes, [digest]: fileSize } };
}

function keyOf(digest: string): string {
  return `${FOLDER}${digest}${SUFFIX}`;
}

/** Returns the digest of the snapshot that an object belongs to. */
function digestIn({ key }: ListedObject): string | undefined {
  return /^snapshots\/([0-9a-f]{64})\.vhs(\.trace)?$/.exec(key)?.[1];
}

/** Copies a file or a remote object into an open file. */
async function download(from: Location, file: NewObject, options: ReadOptions): Promise<void> {
  const { signal } = options;
  if (from.kind !== "file") {
    const { request, name } = await requestAt(from, options);
    return downloadInto(file, request, name, transferOf(options), signal);
  }
  const { path, handle } = file;
  const image = await SnapshotFile.open(from.path);
  try {
    await copyInto({ image, path, file: handle, signal });
  } finally {
    await image.close();
  }
}
