import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { libc } from "../local/libc.js";
import type { CacheOptions } from "../options/cache-options.js";
import { ImageStore } from "./directory/image-store.js";
import type { Layout } from "./directory/layout.js";
import { openDirectory } from "./directory/open-directory.js";
import { Sources } from "./directory/sources.js";
import { Limit } from "./eviction/limit.js";
import { Recency } from "./eviction/recency.js";
import { ImageLoader } from "./loading/image-loader.js";
import { KeyedLock } from "./locks/keyed-lock.js";
import { Leases } from "./locks/leases.js";
import { CacheLock } from "./locks/lock.js";
import { Counters } from "./statistics/counters.js";
import { Totals } from "./statistics/totals.js";
import { Verifier } from "./verification/verifier.js";

/** What an open cache is made of. */
export interface CacheParts {
  readonly layout: Layout;
  readonly maxBytes: number;
  readonly counters: Counters;
  readonly totals: Totals;
  readonly leases: Leases;
  readonly store: ImageStore;
  readonly loader: ImageLoader;
  readonly verifier: Verifier;
  /** Closes its files, when nobody needs them any more. */
  close(): Promise<void>;
}

/** @throws {SnapshotError} `ERR_CACHE` */
export async function openParts(
  path: string,
  { maxBytes, create = true, verifyBytesPerSecond }: CacheOptions,
): Promise<CacheParts> {
  const system = await libc();
  if (system === undefined) {
    const message = "a cache needs Linux on x64 or arm64, and the optional package koffi";
    throw new SnapshotError("ERR_CACHE", message);
  }
  const { layout, lock: lockFile, sources: sourcesFile } = await openDirectory(path, create);
  const { directory } = layout;
  const close = async () => {
    await sourcesFile.close();
    await lockFile.close();
  };
  try {
    const lock = new CacheLock(system, lockFile.fd, layout.lock, path);
    const leases = new Leases(system, layout, new Recency(lockFile.fd));
    const [claims, counters, sources] = [
      new KeyedLock(layout),
      new Counters(),
      new Sources(sourcesFile),
    ];
    const totals = new Totals(layout, lock);
    const limit = new Limit({
      ...{ libc: system, layout, claims, maxBytes },
      evicted(digest, bytes) {
        counters.counts.evictions += 1;
        emit("hedgerow:cache:evict", { directory, digest, bytes });
      },
    });
    const store = new ImageStore({
      ...{ libc: system, layout, lock, leases, limit },
      discarded(digest, reason) {
        counters.counts.damaged += 1;
        emit("hedgerow:cache:damaged", { directory, digest, reason });
      },
    });
    const loader = new ImageLoader({ directory, store, claims, sources, counters });
    const verifier = new Verifier(system, layout, leases, store);
    await store.tidy();
    if (verifyBytesPerSecond !== undefined) verifier.start(verifyBytesPerSecond);
    return { layout, maxBytes, counters, totals, leases, store, loader, verifier, close };
  } catch (error) {
    await close();
    throw error;
  }
}
