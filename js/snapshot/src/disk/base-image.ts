/** The cached images whose data a disk has without fetching it. */
import type { FileHandle } from "node:fs/promises";

import { type ImageCache, type LeasedSnapshot, leaseCached } from "../cache/image-cache.js";
import type { Manifest } from "../format/manifest.js";
import { inheritedFrames } from "../format/segments.js";
import { openFile } from "../local/open-file.js";

/** The image of a snapshot, or of a base of it, that is leased from a cache. */
export interface BaseImage {
  readonly fd: number;
  /** The path of the image, for messages. */
  readonly name: string;
  /** Its size, in bytes. */
  readonly size: number;
  /** The frames of the snapshot whose data it has. */
  readonly frames: ReadonlySet<number>;
}

/**
 * Finds the image of a snapshot in a cache, or else that of its latest base, and calls `use` with it while it is leased.
 *
 * @throws {SnapshotError} `ERR_CACHE`, and what `use` throws
 */
export async function withBaseImage<T>(
  cache: ImageCache | undefined,
  manifest: Manifest,
  use: (base: BaseImage | undefined) => Promise<T>,
): Promise<T> {
  const { info } = manifest;
  const digests = [info, ...(info.delta?.objects ?? [])].map(({ digest }) => digest);
  for (const digest of digests) {
    const leased = cache && (await leaseCached(cache, digest));
    if (leased !== undefined) return withLeased(leased, manifest, use);
  }
  return use(undefined);
}

/** Calls `use` with a leased image, and ends the lease. */
export async function withLeased<T>(
  leased: LeasedSnapshot,
  wanted: Manifest,
  use: (base: BaseImage) => Promise<T>,
): Promise<T> {
  let file: FileHandle | undefined;
  try {
    file = await openFile("ERR_CACHE", leased.path, (handle) => handle);
    const { manifest, path: name } = leased;
    const frames = new Set(inheritedFrames(wanted, manifest).keys());
    return await use({ fd: file.fd, name, size: manifest.info.imageSize, frames });
  } finally {
    await file?.close();
    // The cache may have been closed, which ends the lease, too.
    await leased.release().catch(() => {});
  }
}
