import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { checkPinned } from "../check.js";
import { emit } from "../events.js";
import { type Location, type RemoteLocation, sourceIdOf } from "../location/location.js";
import { etagAt } from "../location/request-at.js";
import { openSource, type ReadOptions, type SourceOptions } from "../location/source.js";
import type { WorkOptions } from "../workers/pool.js";
import {
  BaseFinder,
  type CachedBase,
  isTooLarge,
  type LoadOptions,
  type OpenSnapshot,
} from "./bases.js";
import type { Claims } from "./claims.js";
import type { OpenDirectory } from "./files.js";
import { type ImageWriter, restoreImage } from "./fill.js";
import type { ImageStore } from "./image-store.js";
import type { Lease } from "./leases.js";
import { type FlightOptions, type LoadedImage, Singleflight } from "./singleflight.js";
import { type SeenSnapshot, type SourceIndex, sha256 } from "./source-index.js";
import type { Counters } from "./statistics.js";

/** A request for an image, shared by all callers that want it at the same time. */
interface LoadRequest {
  readonly location: Location;
  readonly options: LoadOptions & FlightOptions;
}

/** The result of a load: an image, or nothing if it shared a delta instead. */
type Loaded = Omit<LoadedImage, "delta"> | undefined;

/** Opens a snapshot for as long as `use` runs. */
type Opening = <T>(use: (snapshot: OpenSnapshot) => Promise<T>) => Promise<T>;

/** Leases images, and restores those that are missing: each once, in all processes. */
export class ImageLoader {
  /** Finds the images of bases of deltas. */
  readonly bases: BaseFinder;
  readonly #loads: Singleflight;
  readonly #onWaited = (milliseconds: number) => this.counters.addTiming("wait", milliseconds);

  constructor(
    private readonly directory: OpenDirectory,
    private readonly store: ImageStore,
    private readonly writer: ImageWriter,
    private readonly claims: Claims,
    private readonly sources: SourceIndex,
    private readonly counters: Counters,
  ) {
    const load = async (...base: Parameters<ImageLoader["get"]>) => (await this.get(...base)).lease;
    this.bases = new BaseFinder(directory.layout, store, load);
    this.#loads = new Singleflight((lease) =>
      // A failed eviction is repeated later.
      store.release(lease).catch(() => {}),
    );
  }

  /** Leases the image of a snapshot. @param digest the digest of the snapshot; without it, the source is asked */
  async get(
    location: Location,
    digest: string | undefined,
    options: LoadOptions,
  ): Promise<LoadedImage> {
    if (digest === undefined && location.kind !== "file") return this.#getLatest(location, options);
    const wanted = digest ?? (await readDigest(location, options));
    const lease = await this.store.take(wanted);
    if (lease !== undefined) return { lease, hit: true };
    const requester = requesterOf(location, options);
    return this.#loads.join(`${wanted} ${requester}`, options, (shared) => {
      const request = { location, options: { ...options, ...shared } };
      const open: Opening = async (use) => {
        const source = await openSource(location, sourceOptions(request));
        try {
          const manifest = await source.manifest();
          checkPinned(source.name, wanted, manifest.info.digest);
          return await use({ source, manifest });
        } finally {
          await source.close();
        }
      };
      if (options.copyTo === undefined) return this.#restoreOnce(wanted, request, open);
      return open((snapshot) => this.#loadForCopy(snapshot, request));
    });
  }

  /** Returns the digest of the snapshot at a location. */
  async digestOf(location: Location, options: ReadOptions): Promise<string> {
    if (location.kind === "file") return readDigest(location, options);
    const seen = await this.sources.get(sha256(sourceIdOf(location, options)));
    const isCurrent = seen !== undefined && (await isUnchanged(seen, location, options));
    return isCurrent ? seen.digest : readDigest(location, options);
  }

  /** Rejects all pending requests, and waits until all loads have ended. */
  end(reason: unknown): Promise<void> {
    return this.#loads.end(reason);
  }

  /** Leases the image of the snapshot that a server has now. */
  async #getLatest(location: RemoteLocation, options: LoadOptions): Promise<LoadedImage> {
    const key = sha256(sourceIdOf(location, options));
    // Requests with other credentials are not shared: the server decides who may see the snapshot.
    const requester = requesterOf(location, options);
    return this.#loads.join(requester, options, async (shared) => {
      const request = { location, options: { ...options, ...shared } };
      let outdated: SeenSnapshot | undefined;
      const takeKnown = async (): Promise<Lease | undefined> => {
        const seen = await this.sources.get(key);
        if (seen === undefined || isSame(seen, outdated)) return undefined;
        if (!this.store.has(seen.digest)) return undefined;
        if (await isUnchanged(seen, location, request.options)) return this.store.take(seen.digest);
        outdated = seen;
        return undefined;
      };
      const lease = await takeKnown();
      if (lease !== undefined) return { lease, hit: true };
      const look = () => this.#lookUp(key, request);
      // Copies of a delta are made while it is open, which must not keep other processes waiting.
      if (options.copyTo !== undefined || this.directory.isReadOnly) return look();
      // Another process may have restored the image by the time this one gets the lock.
      const find = async () => asMiss(await takeKnown());
      const { signal } = shared;
      return this.claims.run(requester, { signal, onWaited: this.#onWaited }, find, look);
    });
  }

  /** Reads which snapshot a server has, and leases its image. */
  async #lookUp(key: string, request: LoadRequest): Promise<Loaded> {
    const source = await openSource(request.location, sourceOptions(request));
    try {
      const manifest = await source.manifest();
      const { digest } = manifest.info;
      const { etag } = source;
      if (etag !== undefined) {
        await this.sources.set(key, { version: sha256(etag), digest });
      }
      const lease = await this.store.take(digest);
      if (lease !== undefined) return { lease, hit: true };
      const snapshot = { source, manifest };
      if (request.options.copyTo !== undefined) return await this.#loadForCopy(snapshot, request);
      return await this.#restoreOnce(digest, request, (use) => use(snapshot));
    } finally {
      await source.close();
    }
  }

  /** Leases an image that will be copied, or shares a delta that can be made from a copy of the image of a base. */
  async #loadForCopy(snapshot: OpenSnapshot, request: LoadRequest): Promise<Loaded> {
    const { location, options } = request;
    const { manifest } = snapshot;
    const base = await this.bases.find(manifest, location, options);
    if (base === undefined) {
      return this.#restoreOnce(manifest.info.digest, request, (use) => use(snapshot));
    }
    try {
      await options.share({ ...snapshot, base });
    } finally {
      await this.store.release(base.lease);
    }
  }

  /** Restores an image, or waits for another process that does. */
  #restoreOnce(digest: string, request: LoadRequest, open: Opening): Promise<Loaded> {
    const { signal } = request.options;
    const find = async () => asMiss(await this.store.take(digest));
    return this.claims.run(digest, { signal, onWaited: this.#onWaited }, find, (journal) =>
      open((snapshot) => this.#load(snapshot, journal, request)),
    );
  }

  /** Restores an image: that of a delta from a copy of the image of its base, if there is one. */
  async #load(snapshot: OpenSnapshot, journal: FileHandle, request: LoadRequest): Promise<Loaded> {
    const { location, options } = request;
    const base =
      options.copyTo === undefined
        ? await this.bases.find(snapshot.manifest, location, options)
        : undefined;
    if (base !== undefined) {
      try {
        return { lease: await this.#restore(snapshot, journal, options, base), hit: false };
      } catch (error) {
        if (!isTooLarge(error)) throw error;
      } finally {
        await this.store.release(base.lease);
      }
    }
    return { lease: await this.#restore(snapshot, journal, options), hit: false };
  }

  async #restore(
    snapshot: OpenSnapshot,
    journal: FileHandle,
    options: WorkOptions,
    base?: CachedBase,
  ): Promise<Lease> {
    const { directory } = this.directory.layout;
    const begun = performance.now();
    try {
      const lease = await restoreImage(this.writer, snapshot, journal, options, base);
      this.counters.counts.fills += 1;
      const { info, bytes } = lease;
      const duration = performance.now() - begun;
      emit("hedgerow:cache:fill", { directory, digest: info.digest, bytes, duration });
      return lease;
    } catch (error) {
      this.counters.counts.failures += 1;
      throw error;
    }
  }
}

/**
 * Returns a digest of a location, of credentials, and of whether a copy is wanted. Requests with the same digest succeed
 * or fail together. A request with `resolve` has its own.
 */
function requesterOf(
  location: Location,
  { headers, s3, gcs, azure, copyTo, resolve }: LoadOptions,
): string {
  const own = resolve === undefined ? undefined : randomUUID();
  return sha256(JSON.stringify([location, headers, s3, gcs, azure, copyTo !== undefined, own]));
}

/**
 * Returns how the snapshot of a request is opened. Only for a copy its beginning is prefetched: of others, a process
 * that was killed may have left some.
 */
function sourceOptions({ options }: LoadRequest): SourceOptions {
  return { options, wanted: options.copyTo === undefined ? "rest" : "all" };
}

/** Reads the digest of a snapshot from its source. */
async function readDigest(location: Location, options: ReadOptions): Promise<string> {
  const source = await openSource(location, { options, wanted: "info" });
  try {
    return (await source.manifest()).info.digest;
  } finally {
    await source.close();
  }
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
function asMiss(lease: Lease | undefined): Loaded {
  return lease && { lease, hit: false };
}

function isSame(one: SeenSnapshot, other: SeenSnapshot | undefined): boolean {
  return one.version === other?.version && one.digest === other.digest;
}
