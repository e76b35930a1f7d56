import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { libc } from "../local/libc.js";
import { Mutex } from "../local/locks.js";
import type { CacheOptions } from "../options/cache-options.js";
import type { Layout } from "./directory/layout.js";
import { openDirectory, tryCacheLock } from "./directory/open-directory.js";
import { Recency } from "./directory/recency.js";
import { SourceIndex } from "./directory/source-index.js";
import { Evictor } from "./eviction/evictor.js";
import { SizeLimit } from "./eviction/size-limit.js";
import { ImageLoader } from "./loading/image-loader.js";
import { Claims } from "./locks/claims.js";
import { Leases } from "./locks/leases.js";
import { Counters } from "./statistics/counters.js";
import { Totals } from "./statistics/totals.js";
import { ImageStore } from "./store/image-store.js";
import { ImageWriter } from "./store/image-writer.js";
import { Verifier } from "./verification/verifier.js";

/** The components of an open cache. */
export interface CacheComponents {
  readonly layout: Layout;
  readonly maxBytes: number;
  readonly counters: Counters;
  readonly totals: Totals;
  readonly leases: Leases;
  readonly store: ImageStore;
  readonly writer: ImageWriter;
  readonly loader: ImageLoader;
  readonly verifier: Verifier;
  /** Closes the files of the cache. Nothing else may be used afterwards. */
  close(): Promise<void>;
}

/** Opens a directory as a cache, and makes the components that work on it. @throws {SnapshotError} `ERR_CACHE` */
export async function openComponents(
  path: string,
  { maxBytes, create = true, verifyBytesPerSecond }: CacheOptions,
): Promise<CacheComponents> {
  const system = await libc();
  if (system === undefined) {
    const message = "a cache needs Linux on x64 or arm64, and the optional package koffi";
    throw new SnapshotError("ERR_CACHE", message);
  }
  const opened = await openDirectory(path, create);
  const { layout, isReadOnly } = opened;
  const { directory } = layout;
  const close = async () => {
    await opened.sources?.close();
    await opened.lock.close();
  };
  try {
    const lock = new Mutex("ERR_CACHE", path, () => tryCacheLock(system, opened, path));
    const leases = new Leases(system, layout, new Recency(opened.lock.fd));
    const claims = new Claims(layout);
    const counters = new Counters();
    const totals = new Totals(layout, lock);
    const evictor = new Evictor({
      ...{ libc: system, layout, claims },
      onEvicted(digest, bytes) {
        counters.counts.evictions += 1;
        emit("hedgerow:cache:evict", { directory, digest, bytes });
      },
    });
    const limit = new SizeLimit(layout, evictor, maxBytes);
    const store = new ImageStore({
      ...{ layout, lock, leases, evictor, limit },
      onDiscarded(digest, reason) {
        counters.counts.damaged += 1;
        emit("hedgerow:cache:damaged", { directory, digest, reason });
      },
    });
    const writer = new ImageWriter({ libc: system, layout, lock, leases, evictor, limit });
    const sources = new SourceIndex(opened.sources, isReadOnly);
    const loader = new ImageLoader({
      ...{ directory, isReadOnly, layout, store, writer, claims, sources, counters },
    });
    const verifier = new Verifier(system, layout, leases, store);
    if (!isReadOnly) await store.recover();
    if (verifyBytesPerSecond !== undefined) verifier.start(verifyBytesPerSecond);
    return { layout, maxBytes, counters, totals, leases, store, writer, loader, verifier, close };
  } catch (error) {
    await close();
    throw error;
  }
}
