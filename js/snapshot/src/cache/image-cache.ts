import { withEither } from "../abort.js";
import { BOOLEAN, type Checks, checkInteger, checkOptions, integer, is, SIGNAL } from "../check.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import type { Manifest, SnapshotInfo } from "../format/manifest.js";
import { type Location, localPath, locationOf } from "../location/location.js";
import { READ_CHECKS, type ReadOptions, type ReadWorkOptions } from "../location/source.js";
import { WORK_CHECKS } from "../workers/pool.js";
import { type CacheComponents, type CacheOptions, openComponents } from "./components.js";
import {
  type CopyOptions,
  checkBaseObjects,
  checkedCopyTarget,
  copyDelta,
  copyLeased,
} from "./copies.js";
import { byUse } from "./eviction.js";
import { readRecord } from "./record.js";
import type { LoadedImage } from "./singleflight.js";
import type { CacheStats, Pruned, Verified } from "./statistics.js";
import type { VerifyOptions } from "./verification.js";

/** An image from a cache: a lease of the cache's own file, or a private copy. */
export interface CachedImage {
  /** The path of the image. Only a copy may be written to. */
  readonly path: string;
  /** Whether the image was in the cache. */
  readonly hit: boolean;
  /** The disk usage of the image in the cache, with its record, in bytes. */
  readonly bytes: number;
  /** The metadata of the snapshot. */
  readonly info: SnapshotInfo;
  /** Ends the lease. Until then, or until the process ends, the image is not evicted. Does nothing for a copy. */
  release(): Promise<void>;
  /** Calls {@link release}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** An image in a cache. */
export interface CacheEntry {
  /** The digest of the snapshot. */
  readonly digest: string;
  /** The disk usage of the image and its record, in bytes. */
  readonly bytes: number;
  /** The size of the image in bytes, including holes. */
  readonly imageSize: number;
  /** Where the image was restored from, without secrets. */
  readonly source: string;
  /** When the image was last used. */
  readonly lastUsed: Date;
}

/** A snapshot whose image is in a cache, and is not evicted until it is released. */
export interface LeasedSnapshot {
  /** The path of the image. */
  readonly path: string;
  readonly manifest: Manifest;
  release(): Promise<void>;
}

/** Options of `ImageCache.get`. */
export interface GetOptions extends ReadWorkOptions, CopyOptions {}

const CACHE_CHECKS: Checks<CacheOptions> = {
  maxBytes: integer(2 ** 20),
  create: BOOLEAN,
  verifyBytesPerSecond: integer(1),
};

const GET_CHECKS: Checks<GetOptions> = {
  ...WORK_CHECKS,
  ...READ_CHECKS,
  copyTo: (name, path) => localPath(name, path as string),
  overwrite: BOOLEAN,
  durable: BOOLEAN,
};

const VERIFY_CHECKS: Checks<VerifyOptions> = { signal: SIGNAL, bytesPerSecond: integer(1) };

/** Calls the private method of the class. */
let leaseOf: (cache: ImageCache, digest: string) => Promise<LeasedSnapshot | undefined>;

/**
 * A directory of disk images, restored from snapshots and kept for the next time they are needed.
 *
 * Evicts the least recently used images first. All processes of a user can share the directory, and may be killed
 * at any time. docs/cache.md describes the directory.
 *
 * Needs Linux and the optional package `koffi`.
 *
 * @example
 * const cache = await ImageCache.open("/var/cache/images", { maxBytes: 50e9 });
 * const image = await cache.get("https://example.com/base.vhs", { digest });
 * await runSandbox(image.path);
 * await image.release();
 * await cache.close();
 */
export class ImageCache {
  /** The real path of the directory. */
  readonly directory: string;
  readonly #components: CacheComponents;
  /** Is aborted when the cache is closed. */
  readonly #closing = new AbortController();
  /** The calls that closing the cache waits for. */
  readonly #running = new Set<Promise<unknown>>();
  /** Functions that end the leases of images that have not been released. */
  readonly #releases = new Set<() => Promise<void>>();
  #closed: Promise<void> | undefined;

  private constructor(components: CacheComponents) {
    this.directory = components.layout.directory;
    this.#components = components;
  }

  /**
   * Opens a cache. Creates the directory if it does not exist, and removes files left by killed processes.
   *
   * Rejects a directory that contains other files, or that another user owns or could write to.
   *
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`
   */
  static async open(directory: string, options: CacheOptions): Promise<ImageCache> {
    options = checkOptions(options, CACHE_CHECKS);
    checkInteger("maxBytes", options.maxBytes, 2 ** 20, Number.MAX_SAFE_INTEGER);
    const path = localPath("directory", directory);
    return new ImageCache(await openComponents(path, options));
  }

  static {
    leaseOf = (cache, digest) => cache.#lease(digest);
  }

  /**
   * Returns the image of a snapshot, and restores it first if it is not in the cache.
   *
   * Pass `digest` to pin the snapshot: a hit then needs no network. Without it, each call asks the server whether
   * the snapshot has changed.
   *
   * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, `s3:`, `gs:` or `az:`
   * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`, what `restoreSnapshot` throws, and for a copy
   *   `ERR_IMAGE` and `ERR_IMAGE_CHANGED`, if the image in the cache cannot be read
   */
  get(source: string | URL, options: GetOptions = {}): Promise<CachedImage> {
    return this.#run(async () => {
      const { loader, counters, totals } = this.#components;
      const begun = performance.now();
      options = checkOptions(options, GET_CHECKS);
      const digest = options.digest?.toLowerCase();
      const location = locationOf("source", source);
      const target = await checkedCopyTarget(this.directory, options, location);
      options.signal?.throwIfAborted();
      const loaded = await loader.get(location, digest, options);
      const { hit, lease, delta } = loaded;
      const duration = performance.now() - begun;
      counters.countGet(hit, duration);
      const counted = hit ? totals.addNowAndThen(counters) : totals.add(counters);
      const { info } = delta?.manifest ?? lease;
      const event = { directory: this.directory, digest: info.digest, bytes: lease.bytes };
      emit("hedgerow:cache:get", { ...event, hit, duration });
      try {
        if (target === undefined) return this.#leased(loaded);
        return await this.#copied(location, loaded, target, options);
      } finally {
        await counted;
      }
    });
  }

  /**
   * Returns whether the image of a snapshot is in the cache. Without `digest`, asks the server which snapshot it has.
   *
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`, and what `inspectSnapshot` throws
   */
  has(source: string | URL, options: ReadOptions = {}): Promise<boolean> {
    return this.#run(async () => {
      return this.#components.store.has(await this.#digestOf(source, options));
    });
  }

  /**
   * Removes the image of a snapshot; if it is in use, its users keep it until they release it. Returns whether it
   * was in the cache. Without `digest`, asks the server which snapshot it has.
   *
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`, and what `inspectSnapshot` throws
   */
  delete(source: string | URL, options: ReadOptions = {}): Promise<boolean> {
    return this.#run(async () => {
      const digest = await this.#digestOf(source, options);
      return this.#components.store.remove(digest, options.signal);
    });
  }

  /** Removes all images, as {@link delete} does. Returns how many there were. @throws {SnapshotError} `ERR_CACHE` */
  clear(): Promise<number> {
    return this.#run(() => this.#components.store.clear());
  }

  /**
   * Evicts the least recently used images until the directory takes at most `maxBytes`. Keeps images in use.
   *
   * @param maxBytes defaults to the limit of the cache
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`
   */
  prune(maxBytes = this.#components.maxBytes): Promise<Pruned> {
    return this.#run(async () => {
      checkInteger("maxBytes", maxBytes, 0, Number.MAX_SAFE_INTEGER);
      return this.#components.store.prune(maxBytes);
    });
  }

  /** Lists all images, the most recently used first. @throws {SnapshotError} `ERR_CACHE` */
  entries(): Promise<CacheEntry[]> {
    return this.#run(async () => {
      const { store, layout } = this.#components;
      const { images } = await store.inventory();
      const entries: CacheEntry[] = [];
      for (const { digest, bytes, used, isWhole } of [...images].sort(byUse).reverse()) {
        if (!isWhole) continue;
        const record = readRecord(layout.record(digest), digest);
        if (record === undefined) continue;
        const { info, source } = record;
        const lastUsed = new Date(Number(used / 1000n));
        entries.push({ digest, bytes, imageSize: info.imageSize, source, lastUsed });
      }
      return entries;
    });
  }

  /**
   * Reads all images and removes damaged ones, which the next {@link get} restores.
   *
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`, and the reason of the signal
   */
  verify(options: VerifyOptions = {}): Promise<Verified> {
    return this.#run(async () => {
      const { signal, bytesPerSecond } = checkOptions(options, VERIFY_CHECKS);
      return withEither(signal, this.#closing.signal, (either) =>
        this.#components.verifier.verify({ bytesPerSecond, signal: either }),
      );
    });
  }

  /**
   * Measures the directory, and returns its state and the counters of this process.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  stats(): Promise<CacheStats> {
    return this.#run(async () => {
      const { store, maxBytes, counters, leases, totals } = this.#components;
      const { images, bytes } = await store.inventory();
      return {
        ...counters.counts,
        ...counters.timings,
        entries: images.filter(({ isWhole }) => isWhole).length,
        bytes,
        maxBytes,
        excessBytes: Math.max(0, bytes - maxBytes),
        leases: leases.count,
        leasedBytes: leases.bytes,
        totals: await totals.with(counters),
      };
    });
  }

  /**
   * Closes the cache: rejects pending calls with `ERR_CACHE`, and ends all leases. Images may then be evicted, but
   * files that are open stay readable. The directory stays as it is.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Calls {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { loader, verifier, totals, counters, close } = this.#components;
    const message = `the cache ${this.directory} has been closed`;
    const reason = new SnapshotError("ERR_CACHE", message);
    this.#closing.abort(reason);
    await loader.end(reason);
    await verifier.stop();
    await Promise.allSettled(this.#running);
    for (const release of this.#releases) await release().catch(() => {});
    await totals.add(counters);
    await close();
  }

  /** Runs a call, unless the cache has been closed. */
  #run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    const running = call();
    this.#running.add(running);
    const end = () => this.#running.delete(running);
    running.then(end, end);
    return running;
  }

  async #digestOf(source: string | URL, options: ReadOptions): Promise<string> {
    options = checkOptions(options, READ_CHECKS);
    const location = locationOf("source", source);
    options.signal?.throwIfAborted();
    if (options.digest !== undefined) return options.digest.toLowerCase();
    return withEither(options.signal, this.#closing.signal, (signal) =>
      this.#components.loader.digestOf(location, { ...options, signal }),
    );
  }

  #lease(digest: string): Promise<LeasedSnapshot | undefined> {
    return this.#run(async () => {
      const { loader } = this.#components;
      const base = await loader.bases.take(digest);
      if (base === undefined) return undefined;
      const { path, release } = this.#leased({ lease: base.lease, hit: true });
      return { path, release, manifest: base.content.manifest };
    });
  }

  #leased({ lease, hit }: LoadedImage): CachedImage {
    const { path, bytes, info } = lease;
    const end = async () => {
      if (this.#releases.delete(end)) await this.#components.store.release(lease);
    };
    this.#releases.add(end);
    // Closing the cache ends the lease.
    const release = () => this.#closed ?? this.#run(end);
    return { path, hit, bytes, info, release, [Symbol.asyncDispose]: release };
  }

  async #copied(
    location: Location,
    loaded: LoadedImage,
    path: string,
    options: GetOptions,
  ): Promise<CachedImage> {
    const { lease, hit, delta } = loaded;
    const bytes = delta === undefined ? lease.bytes : 0;
    const { info } = delta?.manifest ?? lease;
    try {
      await checkBaseObjects(path, location, info);
      await withEither(options.signal, this.#closing.signal, (signal) =>
        delta === undefined
          ? copyLeased(lease, path, { ...options, signal })
          : copyDelta(delta, path, { ...options, signal }),
      );
    } finally {
      delta?.release();
      await this.#components.store.release(lease);
    }
    const release = async () => {};
    return { path, hit, bytes, info, release, [Symbol.asyncDispose]: release };
  }
}

/** The check of an option `cache`. */
export const CACHE = is("an ImageCache", (value) => value instanceof ImageCache);

/** Leases the image of a snapshot, if it is in a cache. @throws {SnapshotError} `ERR_CACHE` */
export function leaseCached(
  cache: ImageCache,
  digest: string,
): Promise<LeasedSnapshot | undefined> {
  return leaseOf(cache, digest);
}
