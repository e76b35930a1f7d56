import type { SnapshotInfo } from "../format/manifest.js";

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
