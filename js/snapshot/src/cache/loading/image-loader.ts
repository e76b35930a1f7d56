import type { FileHandle } from "node:fs/promises";

import { emit } from "../../events.js";
import type { GetOptions } from "../../options/cache-options.js";
import { checkPinned, type ReadOptions, type WorkOptions } from "../../options/work-options.js";
import type { Location } from "../../places/location.js";
import { etagAt, identityOf, type RemoteLocation } from "../../places/server.js";
import { withSource } from "../../places/source.js";
import { type SeenSnapshot, type SourceIndex, sha256 } from "../directory/source-index.js";
import type { KeyedLock } from "../locks/keyed-lock.js";
import type { Lease } from "../locks/leases.js";
import type { Counters } from "../statistics/counters.js";
import type { ImageStore } from "../store/image-store.js";
import type { ImageWriter } from "../store/image-writer.js";
import { type OpenSnapshot, restoreImage } from "./restore-image.js";
import { type LoadedImage, Singleflight } from "./singleflight.js";

/** What an image loader works with. */
export interface ImageLoaderParts {
  readonly directory: string;
  readonly store: ImageStore;
  readonly writer: ImageWriter;
  readonly keyedLock: KeyedLock;
  readonly sources: SourceIndex;
  readonly counters: Counters;
}

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
      const all = { options: { ...options, ...how }, wanted: "rest" } as const;
      return withSource(location, all, async (source) => {
        const manifest = await source.manifest();
        checkPinned(source.name, wanted, manifest.info.digest);
        return use({ source, manifest });
      });
    };
    const lease = await this.#parts.store.take(wanted);
    if (lease !== undefined) return { lease, hit: true };
    const requester = requesterOf(location, options);
    return this.#loads.join(`${wanted} ${requester}`, options, (shared) =>
      this.#restoreOnce(wanted, requester, { ...options, ...shared }, open),
    );
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
      const look = () => this.#lookUp(identity, requester, location, all);
      const { signal } = shared;
      return keyedLock.run(requester, { signal, requester, onWaited: this.#onWaited }, find, look);
    });
  }

  /** Reads which snapshot a server has, and leases its image. */
  #lookUp(
    identity: string,
    requester: string,
    location: RemoteLocation,
    options: GetOptions,
  ): Promise<LoadedImage> {
    return withSource(location, { options, wanted: "rest" }, async (source) => {
      const manifest = await source.manifest();
      const { digest } = manifest.info;
      const { etag } = source;
      if (etag !== undefined) {
        await this.#parts.sources.set(identity, { version: sha256(etag), digest });
      }
      const lease = await this.#parts.store.take(digest);
      if (lease !== undefined) return { lease, hit: true };
      return this.#restoreOnce(digest, requester, options, (_, use) => use({ source, manifest }));
    });
  }

  /** Restores an image, or waits for another process that does. */
  #restoreOnce(
    digest: string,
    requester: string,
    options: WorkOptions,
    open: Opening,
  ): Promise<LoadedImage> {
    const { store, keyedLock } = this.#parts;
    const find = async () => asMiss(await store.take(digest));
    const { signal } = options;
    return keyedLock.run(digest, { signal, requester, onWaited: this.#onWaited }, find, (journal) =>
      open(options, async (snapshot) => {
        return { lease: await this.#restore(snapshot, journal, options), hit: false };
      }),
    );
  }

  async #restore(
    snapshot: OpenSnapshot,
    journal: FileHandle,
    options: WorkOptions,
  ): Promise<Lease> {
    const { directory, writer, counters } = this.#parts;
    const begun = performance.now();
    try {
      const lease = await restoreImage(writer, snapshot, journal, options);
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

/** Returns a digest of a location and credentials. Requests with the same one succeed or fail together. */
function requesterOf(location: Location, { headers, s3 }: ReadOptions): string {
  return sha256(JSON.stringify([location, headers, s3]));
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

function isSame(one: SeenSnapshot, other: SeenSnapshot | undefined): boolean {
  return one.version === other?.version && one.digest === other.digest;
}
