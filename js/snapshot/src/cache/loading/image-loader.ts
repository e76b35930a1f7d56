import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

import { DecodeJob } from "../../decode/decode-job.js";
import { SnapshotError } from "../../error.js";
import { emit } from "../../events.js";
import type { Manifest } from "../../format/manifest.js";
import { writeAtomically } from "../../local/atomic-write.js";
import type { GetOptions } from "../../options/cache-options.js";
import { checkPinned, type ReadOptions, type WorkOptions } from "../../options/work-options.js";
import { baseLocation, optionsFor } from "../../places/base-objects.js";
import type { Location } from "../../places/location.js";
import { etagAt, identityOf, type RemoteLocation } from "../../places/server.js";
import { withSource } from "../../places/source.js";
import type { Layout } from "../directory/layout.js";
import { type SeenSnapshot, type SourceIndex, sha256 } from "../directory/source-index.js";
import type { KeyedLock } from "../locks/keyed-lock.js";
import type { Lease } from "../locks/leases.js";
import type { Counters } from "../statistics/counters.js";
import type { ImageStore } from "../store/image-store.js";
import type { ImageWriter } from "../store/image-writer.js";
import { type CachedBase, copyBase, openBase } from "./copy-base.js";
import { type OpenSnapshot, restoreImage } from "./restore-image.js";
import { type LoadedImage, Singleflight, type WantedDelta } from "./singleflight.js";

/** What an image loader works with. */
export interface ImageLoaderParts {
  readonly directory: string;
  readonly layout: Layout;
  readonly store: ImageStore;
  readonly writer: ImageWriter;
  readonly keyedLock: KeyedLock;
  readonly sources: SourceIndex;
  readonly counters: Counters;
}

/** A request for an image. */
interface LoadRequest {
  readonly location: Location;
  readonly requester: string;
  readonly options: GetOptions;
}

/** The default minimum share of the bytes of a base object that a delta must use for its image to be restored first. */
const MIN_USED_SHARE = 0.5;

/** Opens a snapshot for as long as `use` runs. */
type Opening = <T>(options: WorkOptions, use: (snapshot: OpenSnapshot) => Promise<T>) => Promise<T>;

/** Leases images, and restores those that are missing: each once, in all processes. */
export class ImageLoader {
  readonly #parts: ImageLoaderParts;
  readonly #loads: Singleflight;
  readonly #onWaited = (milliseconds: number) =>
    this.#parts.counters.addTiming("wait", milliseconds);

  constructor(parts: ImageLoaderParts) {
    this.#parts = parts;
    this.#loads = new Singleflight((lease) =>
      // A failed eviction is repeated later.
      parts.store.release(lease).catch(() => {}),
    );
  }

  /** Leases the image of a snapshot. @param digest the digest of the snapshot; without it, the source is asked */
  async get(
    location: Location,
    digest: string | undefined,
    options: GetOptions,
  ): Promise<LoadedImage> {
    if (digest === undefined && location.kind !== "file") return this.#getLatest(location, options);
    const wanted = digest ?? (await readDigest(location, options));
    const open: Opening = (how, use) => {
      const all = { options: { ...options, ...how }, wanted: wantedOf(options) };
      return withSource(location, all, async (source) => {
        const manifest = await source.manifest();
        checkPinned(source.name, wanted, manifest.info.digest);
        return use({ source, manifest });
      });
    };
    const lease = await this.#parts.store.take(wanted);
    if (lease !== undefined) return { lease, hit: true };
    const requester = requesterOf(location, options);
    return this.#loads.join(`${wanted} ${requester}`, options, (shared) => {
      const request = { location, requester, options: { ...options, ...shared } };
      return this.#restoreOnce(wanted, request, open);
    });
  }

  /**
   * Copies the image of a base to `target`, and changes it to that of the delta.
   *
   * @throws {SnapshotError} `ERR_TARGET`, and what restoring throws
   */
  async copyDelta(
    location: Location,
    lease: Lease,
    { manifest, content }: WantedDelta,
    target: string,
    options: GetOptions,
  ): Promise<void> {
    const { signal, overwrite, durable: isDurable = false } = options;
    await writeAtomically(target, { signal, overwrite, isDurable }, async (file) => {
      // The base is copied while the snapshot is opened again. The file must stay open until both have ended.
      const copying = copyBase(manifest, { lease, content }, { path: target, file, signal });
      const [decoded] = await Promise.allSettled([
        withSource(location, { options, wanted: "rest" }, async (source) => {
          checkUnchanged(source.name, manifest, await source.manifest());
          const isWanted = await copying;
          const image = { fd: file.fd, name: target, mayHoldData: true, journal: undefined };
          await source.decode(new DecodeJob(source.name, manifest, image, isWanted), options);
        }),
        copying,
      ]);
      if (decoded.status === "rejected") throw decoded.reason;
    });
  }

  /** Returns the digest of the snapshot at a location. */
  async digestOf(location: Location, options: ReadOptions): Promise<string> {
    if (location.kind === "file") return readDigest(location, options);
    const seen = await this.#parts.sources.get(sha256(identityOf(location, options)));
    const isCurrent = seen !== undefined && (await isUnchanged(seen, location, options));
    return isCurrent ? seen.digest : readDigest(location, options);
  }

  /** Rejects all pending requests, and waits until all loads have ended. */
  end(reason: unknown): Promise<void> {
    return this.#loads.end(reason);
  }

  /** Leases the image of the snapshot that a server has now. */
  async #getLatest(location: RemoteLocation, options: GetOptions): Promise<LoadedImage> {
    const { keyedLock, store, sources } = this.#parts;
    const identity = sha256(identityOf(location, options));
    // Requests with other credentials are not shared: the server decides who may see the snapshot.
    const requester = requesterOf(location, options);
    return this.#loads.join(requester, options, async (shared) => {
      const all = { ...options, ...shared };
      let outdated: SeenSnapshot | undefined;
      const takeKnown = async (): Promise<Lease | undefined> => {
        const seen = await sources.get(identity);
        if (seen === undefined || isSame(seen, outdated)) return undefined;
        if (!store.has(seen.digest)) return undefined;
        if (await isUnchanged(seen, location, all)) return store.take(seen.digest);
        outdated = seen;
        return undefined;
      };
      const lease = await takeKnown();
      if (lease !== undefined) return { lease, hit: true };
      // Another process may have restored the image by the time this one gets the lock.
      const find = async () => asMiss(await takeKnown());
      const look = () => this.#lookUp(identity, { location, requester, options: all });
      const { signal } = shared;
      return keyedLock.run(requester, { signal, requester, onWaited: this.#onWaited }, find, look);
    });
  }

  /** Reads which snapshot a server has, and leases its image. */
  #lookUp(identity: string, request: LoadRequest): Promise<LoadedImage> {
    const { location, options } = request;
    return withSource(location, { options, wanted: wantedOf(options) }, async (source) => {
      const manifest = await source.manifest();
      const { digest } = manifest.info;
      const { etag } = source;
      if (etag !== undefined) {
        await this.#parts.sources.set(identity, { version: sha256(etag), digest });
      }
      const lease = await this.#parts.store.take(digest);
      if (lease !== undefined) return { lease, hit: true };
      return this.#restoreOnce(digest, request, (_, use) => use({ source, manifest }));
    });
  }

  /** Restores an image, or waits for another process that does. */
  #restoreOnce(digest: string, request: LoadRequest, open: Opening): Promise<LoadedImage> {
    const { store, keyedLock } = this.#parts;
    const { requester, options } = request;
    const find = async () => asMiss(await store.take(digest));
    const { signal } = options;
    return keyedLock.run(digest, { signal, requester, onWaited: this.#onWaited }, find, (journal) =>
      open(options, (snapshot) => this.#load(snapshot, journal, request)),
    );
  }

  /** Restores an image. For a copy of a delta's image, leases the image of its base instead, if there is one. */
  async #load(
    snapshot: OpenSnapshot,
    journal: FileHandle,
    request: LoadRequest,
  ): Promise<LoadedImage> {
    const { store } = this.#parts;
    const { options } = request;
    const { manifest } = snapshot;
    const base = await this.#findBase(manifest, request);
    if (base !== undefined) {
      const { lease, content } = base;
      if (options.copyTo !== undefined) return { lease, hit: false, delta: { manifest, content } };
      try {
        return { lease: await this.#restore(snapshot, journal, options, base), hit: false };
      } catch (error) {
        if (!isTooLarge(error)) throw error;
      } finally {
        await store.release(lease);
      }
    }
    return { lease: await this.#restore(snapshot, journal, options), hit: false };
  }

  /** Leases the image of a base object of a delta. If none is cached, restores one first if `keepBase` says so. */
  async #findBase(
    { info: { delta } }: Manifest,
    { location, options }: LoadRequest,
  ): Promise<CachedBase | undefined> {
    // The latest comes first: its image has most in common with the delta.
    for (const { digest } of delta?.objects ?? []) {
      const base = await this.openBase(await this.#parts.store.take(digest));
      if (base !== undefined) return base;
    }
    const [object] = [...(delta?.objects ?? [])].sort((a, b) => b.usedBytes - a.usedBytes);
    if (object === undefined) return undefined;
    const { keepBase = object.usedBytes >= MIN_USED_SHARE * object.size } = options;
    if (!keepBase) return undefined;
    const base = await baseLocation(location, object, options);
    // No more than one base is restored for a delta: a chain of them may have any length.
    const how = { ...optionsFor(location, base, options), copyTo: undefined, keepBase: false };
    try {
      return await this.openBase((await this.get(base, object.digest, how)).lease);
    } catch (error) {
      if (isTooLarge(error)) return undefined;
      throw errorOfBase(object.digest, error);
    }
  }

  /** Reads the content of a leased image. Releases it, and returns undefined, if its record is damaged. */
  async openBase(lease: Lease | undefined): Promise<CachedBase | undefined> {
    if (lease === undefined) return undefined;
    const { store, layout } = this.#parts;
    let base: CachedBase | undefined;
    try {
      base = await openBase(lease, layout.record(lease.info.digest));
      return base;
    } finally {
      if (base === undefined) await store.release(lease);
    }
  }

  async #restore(
    snapshot: OpenSnapshot,
    journal: FileHandle,
    options: WorkOptions,
    base?: CachedBase,
  ): Promise<Lease> {
    const { directory, writer, counters } = this.#parts;
    const begun = performance.now();
    try {
      const lease = await restoreImage(writer, snapshot, journal, options, base);
      counters.counts.fills += 1;
      const { info, bytes } = lease;
      const duration = performance.now() - begun;
      emit("hedgerow:cache:fill", { directory, digest: info.digest, bytes, duration });
      return lease;
    } catch (error) {
      counters.counts.failures += 1;
      throw error;
    }
  }
}

/**
 * Returns a digest of a location, of credentials, and of whether a copy is wanted. Requests with the same digest succeed
 * or fail together. A request with `resolve` has its own.
 */
function requesterOf(location: Location, { headers, s3, copyTo, resolve }: GetOptions): string {
  const own = resolve === undefined ? undefined : randomUUID();
  return sha256(JSON.stringify([location, headers, s3, copyTo !== undefined, own]));
}

/**
 * Returns which part of a snapshot a load reads. Of a delta that is copied, it may be the manifest only: workers start
 * when it is clear that they are needed.
 */
function wantedOf({ copyTo }: GetOptions): "info" | "rest" {
  return copyTo === undefined ? "rest" : "info";
}

/** Returns the error of a base object with its identity. */
function errorOfBase(digest: string, error: unknown): unknown {
  if (!(error instanceof SnapshotError) || error.message.includes(digest)) return error;
  const { code, message, field, offset, cause, status } = error;
  const place = field === undefined || offset === undefined ? undefined : { field, offset };
  return new SnapshotError(code, `base object ${digest}: ${message}`, { cause, status, place });
}

/** Returns whether a cache has no room for the images of a delta and its base. The delta is then restored alone. */
function isTooLarge(error: unknown): boolean {
  return error instanceof SnapshotError && error.code === "ERR_CACHE_SIZE";
}

/** Reads the digest of a snapshot from its source. */
function readDigest(location: Location, options: ReadOptions): Promise<string> {
  return withSource(location, { options, wanted: "info" }, async (source) => {
    return (await source.manifest()).info.digest;
  });
}

/** Returns whether a server still has the snapshot that was seen there. */
async function isUnchanged(
  seen: SeenSnapshot,
  location: RemoteLocation,
  options: ReadOptions,
): Promise<boolean> {
  const etag = await etagAt(location, options);
  return etag !== undefined && sha256(etag) === seen.version;
}

/** Returns the lease of an image that another process has restored while this one waited. */
function asMiss(lease: Lease | undefined): LoadedImage | undefined {
  return lease && { lease, hit: false };
}

/** @throws {SnapshotError} `ERR_SOURCE_CHANGED` if a snapshot that was opened again is another one */
function checkUnchanged(name: string, { info: { digest } }: Manifest, { info }: Manifest): void {
  if (info.digest === digest) return;
  const message = `${name} changed meanwhile: expected the snapshot of digest ${digest}, found ${info.digest}`;
  throw new SnapshotError("ERR_SOURCE_CHANGED", message);
}

function isSame(one: SeenSnapshot, other: SeenSnapshot | undefined): boolean {
  return one.version === other?.version && one.digest === other.digest;
}
