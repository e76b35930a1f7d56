import { realpath, stat } from "node:fs/promises";
import { dirname, sep } from "node:path";

import { withEither } from "../abort.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import type { SnapshotInfo } from "../format/manifest.js";
import { copyImage } from "../local/copy-image.js";
import { openFile } from "../local/open-file.js";
import { checkOther } from "../local/other-file.js";
import { checkedTarget } from "../local/whole-file.js";
import {
  type CacheOptions,
  checkCache,
  checkGet,
  checkVerify,
  type GetOptions,
  type VerifyOptions,
} from "../options/cache-options.js";
import { checkInteger } from "../options/check-integer.js";
import { readOptions } from "../options/read-options.js";
import { checkedDigest, type ReadOptions } from "../options/work-options.js";
import { type Location, localPath, locationOf } from "../places/location.js";
import { readRecord } from "./directory/image-record.js";
import { byUse } from "./eviction/policy.js";
import type { Got } from "./loading/singleflight.js";
import { type CacheParts, openParts } from "./parts.js";
import type { CacheStats, Pruned, Verified } from "./statistics/stats.js";

/** An image out of a cache, or a copy of one. */
export interface CachedImage {
  /** Where it is. Only a copy may be written to. */
  readonly path: string;
  /** Whether it was there, and nothing had to be restored. */
  readonly hit: boolean;
  /** What it takes on the disk, in bytes. */
  readonly bytes: number;
  /** What its snapshot says of itself. */
  readonly info: SnapshotInfo;
  /** Says that it is used no more. Until then, or the end of the process, it stays where it is. */
  release(): Promise<void>;
  /** The same as {@link release}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** An image in a cache. */
export interface CacheEntry {
  /** The digest of its snapshot. */
  readonly digest: string;
  /** What it takes on the disk, in bytes. */
  readonly bytes: number;
  /** How long it is, in bytes, holes included. */
  readonly imageSize: number;
  /** Where it came from first, without what may be secret. */
  readonly source: string;
  /** When it was used last. */
  readonly lastUsed: Date;
}

/** What only the class can tell. */
let hasParts: (value: object) => boolean;

/**
 * Disk images on the disk, restored from snapshots, so that those that are wanted again need not be fetched.
 * Who was not wanted for the longest time goes first. All processes of a user can share the directory, at
 * the same time, and be killed at any time. docs/cache.md tells how.
 *
 * Needs Linux, and the optional package `koffi`.
 *
 * @example
 * const cache = await ImageCache.open("/var/cache/images", { maxBytes: 50e9 });
 * const image = await cache.get("https://example.com/base.vhs", { digest });
 * await runSandbox(image.path);
 * await image.release();
 * await cache.close();
 */
export class ImageCache {
  /** The directory, by its real name. */
  readonly directory: string;
  readonly #parts: CacheParts;
  /** What ends the use of each image that was not released yet. */
  readonly #used = new Set<() => Promise<void>>();
  /** What is going on, for which closing waits. */
  readonly #running = new Set<Promise<unknown>>();
  /** Ends what could take long. */
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  private constructor(parts: CacheParts) {
    this.directory = parts.layout.directory;
    this.#parts = parts;
  }

  /**
   * Opens a cache. A directory that is empty, or that there is not, becomes one; others are refused, and
   * those that others than its owner could write to. What processes have left there that were killed goes.
   *
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`
   */
  static async open(directory: string, options: CacheOptions): Promise<ImageCache> {
    options = readOptions(options);
    checkCache(options);
    const path = localPath("directory", directory);
    return new ImageCache(await openParts(path, options));
  }

  static {
    hasParts = (value) => #parts in value;
  }

  /**
   * Gets the image of a snapshot, restored if there is none. With `digest`, an image that is there is got
   * without a network; otherwise its server is asked whether it is still the same.
   *
   * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, or `s3://bucket/key`
   * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`, what `restoreSnapshot` throws, and for a copy
   *   `ERR_IMAGE` and `ERR_IMAGE_CHANGED`, if the image in the cache cannot be read
   */
  get(source: string | URL, options: GetOptions = {}): Promise<CachedImage> {
    return this.#run(async ({ loader, counters, totals }) => {
      const begun = performance.now();
      options = readOptions(options);
      const digest = checkedDigest(options);
      checkGet(options);
      const location = locationOf("source", source);
      const target = await this.#copyTarget(options, location);
      options.signal?.throwIfAborted();
      const got = await loader.get(location, digest, options);
      const duration = performance.now() - begun;
      counters.got(got.hit, duration);
      await (got.hit ? totals.addNowAndThen(counters) : totals.add(counters));
      const { bytes, info } = got.lease;
      const event = { directory: this.directory, digest: info.digest, bytes };
      emit("hedgerow:cache:get", { ...event, hit: got.hit, duration });
      return target === undefined ? this.#leased(got) : this.#copied(got, target, options);
    });
  }

  /**
   * Whether the image of a snapshot is there. Without `digest`, its server is asked which one that is.
   *
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`, and what `inspectSnapshot` throws
   */
  has(source: string | URL, options: ReadOptions = {}): Promise<boolean> {
    return this.#run(async ({ store }) => {
      return store.has(await this.#digestOf(source, readOptions(options)));
    });
  }

  /**
   * Has the image of a snapshot go: at once, or when nobody uses it any more. Returns whether there was one.
   * Without `digest`, its server is asked which one that is.
   *
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`, and what `inspectSnapshot` throws
   */
  delete(source: string | URL, options: ReadOptions = {}): Promise<boolean> {
    return this.#run(async ({ store }) => {
      options = readOptions(options);
      return store.remove(await this.#digestOf(source, options), options.signal);
    });
  }

  /** Has all images go, as {@link delete} does. Returns how many there were. @throws {SnapshotError} `ERR_CACHE` */
  clear(): Promise<number> {
    return this.#run(({ store }) => store.clear());
  }

  /**
   * Has images go until the directory takes no more than so many bytes, those that were not used for the
   * longest time first. Those that are in use stay. Returns what went.
   *
   * @param maxBytes as many as the cache may have, unless it is said
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`
   */
  prune(maxBytes = this.#parts.maxBytes): Promise<Pruned> {
    return this.#run(({ store }) => {
      checkInteger("maxBytes", maxBytes, 0, Number.MAX_SAFE_INTEGER);
      return store.trim(maxBytes);
    });
  }

  /** All images, those that were used last first. @throws {SnapshotError} `ERR_CACHE` */
  entries(): Promise<CacheEntry[]> {
    return this.#run(async ({ store, layout }) => {
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
   * Reads all images, and has those go that are not what was restored: the next {@link get} restores them.
   *
   * @throws {SnapshotError} `ERR_CACHE`, `ERR_ARGUMENT`, and the reason of the signal
   */
  verify(options: VerifyOptions = {}): Promise<Verified> {
    return this.#run(async ({ verifier }) => {
      options = readOptions(options);
      checkVerify(options);
      const { signal, bytesPerSecond } = options;
      return withEither(signal, this.#closing.signal, (either) =>
        verifier.verify({ bytesPerSecond, signal: either }),
      );
    });
  }

  /** How the cache is doing: what is in it, as measured now, and what happened. @throws {SnapshotError} `ERR_CACHE` */
  stats(): Promise<CacheStats> {
    return this.#run(async ({ store, maxBytes, counters, leases, totals }) => {
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
   * Closes the cache. Who waits for an image is told `ERR_CACHE`, and images that are in use may go; those who have
   * them open can go on. The directory stays as it is.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { loader, verifier, totals, counters, close } = this.#parts;
    const reason = closed(this.directory);
    this.#closing.abort(reason);
    await loader.end(reason);
    await verifier.stop();
    await Promise.allSettled(this.#running);
    for (const end of this.#used) await end().catch(() => {});
    await totals.add(counters);
    await close();
  }

  /** Has something be done while the cache is open. */
  #run<T>(action: (parts: CacheParts) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closed(this.directory));
    const running = (async () => action(this.#parts))();
    const ended = running.then(
      () => {},
      () => {},
    );
    this.#running.add(ended);
    void ended.then(() => this.#running.delete(ended));
    return running;
  }

  async #digestOf(source: string | URL, options: ReadOptions): Promise<string> {
    const digest = checkedDigest(options);
    checkGet(options);
    const location = locationOf("source", source);
    options.signal?.throwIfAborted();
    if (digest !== undefined) return digest;
    return withEither(options.signal, this.#closing.signal, (signal) =>
      this.#parts.loader.digestOf(location, { ...options, signal }),
    );
  }

  /** Where a copy is to be, if one is wanted. Whatever is wrong with that is told before anything is done. */
  async #copyTarget(
    { copyTo, overwrite }: GetOptions,
    source: Location,
  ): Promise<string | undefined> {
    if (copyTo === undefined) return undefined;
    const target = await checkedTarget(localPath("copyTo", copyTo), { overwrite });
    if (source.kind === "file") {
      const from = await stat(source.path, { bigint: true }).catch(() => undefined);
      if (from !== undefined) await checkOther("copyTo", target, from);
    }
    const folder = await realpath(dirname(target)).catch(() => dirname(target));
    if (!`${folder}${sep}`.startsWith(`${this.directory}${sep}`)) return target;
    const message = `copyTo: expected a path that is not in the cache, found ${target}`;
    throw new SnapshotError("ERR_ARGUMENT", message);
  }

  #leased({ lease, hit }: Got): CachedImage {
    const { path, bytes, info } = lease;
    const end = async () => {
      if (this.#used.delete(end)) await this.#parts.store.release(lease);
    };
    this.#used.add(end);
    // Closing the cache has ended it.
    const release = () => (this.#closed === undefined ? this.#run(end) : this.#closed);
    return { path, hit, bytes, info, release, [Symbol.asyncDispose]: release };
  }

  async #copied({ lease, hit }: Got, path: string, options: GetOptions): Promise<CachedImage> {
    const { durable: isDurable = false, overwrite } = options;
    const { bytes, info } = lease;
    try {
      const image = await openFile("ERR_CACHE", lease.path, (file) => file);
      try {
        const { fd } = image;
        const opened = { fd, size: info.imageSize, name: lease.path };
        await withEither(options.signal, this.#closing.signal, (signal) =>
          copyImage(opened, path, { isDurable, overwrite, signal }),
        );
      } finally {
        await image.close();
      }
    } finally {
      await this.#parts.store.release(lease);
    }
    // It is its owner's: nothing ends it but they.
    const release = async () => {};
    return { path, hit, bytes, info, release, [Symbol.asyncDispose]: release };
  }
}

/** Whether something is a cache, and does not only look like one. */
export function isCache(value: unknown): value is ImageCache {
  return typeof value === "object" && value !== null && hasParts(value);
}

function closed(directory: string): SnapshotError {
  return new SnapshotError("ERR_CACHE", `${directory}: expected an open cache, found it closed`);
}
