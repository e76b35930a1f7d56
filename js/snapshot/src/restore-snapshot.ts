import { CACHE, type ImageCache } from "./cache/image-cache.js";
import { BOOLEAN, type Checks, checkOptions, checkPinned } from "./check.js";
import { DecodeJob } from "./decode/decode-job.js";
import { writeImage } from "./decode/restored-image.js";
import type { SnapshotInfo } from "./format/manifest.js";
import { localPath, locationOf } from "./location/location.js";
import { openSource, READ_CHECKS, type ReadWorkOptions } from "./location/source.js";
import { WORK_CHECKS } from "./workers/pool.js";

/** Options of `restoreSnapshot`. */
export interface RestoreOptions extends ReadWorkOptions {
  /** Whether to replace an existing image. Default: `true`. */
  readonly overwrite?: boolean | undefined;
  /**
   * Keeps the restored frames if the restore fails, is aborted or is killed: the next call with `resume`
   * for the same snapshot and image continues from there. Costs a digest of all restored data. Needs
   * Linux and the optional package `koffi`; without them nothing is kept. Default: `false`.
   */
  readonly resume?: boolean | undefined;
  /**
   * Restores through this cache: the image is a copy of the cached one, and the snapshot is fetched only if
   * it is not cached. On file systems with reflinks (XFS, btrfs) the copy takes no time or space. The cache
   * itself keeps what an interrupted restore has fetched, so `resume` has no effect. Default: no cache.
   */
  readonly cache?: ImageCache | undefined;
}

const RESTORE_CHECKS: Checks<RestoreOptions> = {
  ...WORK_CHECKS,
  ...READ_CHECKS,
  overwrite: BOOLEAN,
  resume: BOOLEAN,
  cache: CACHE,
};

/** The result of {@link restoreSnapshot}. */
export interface RestoreInfo extends SnapshotInfo {
  /** Whether the image was in the cache, if one was given. */
  readonly hit?: boolean | undefined;
  /** The duration of the call, in milliseconds. */
  readonly duration: number;
}

/**
 * Restores a disk image from a snapshot.
 *
 * The image appears at its path when it is complete, verified and flushed to the disk; if anything fails before,
 * an existing file stays unchanged. Holes stay holes. Only the owner may read the image.
 *
 * From a server, ranges are downloaded in parallel, decoded as they arrive, and retried if they fail. Fails if
 * the snapshot changes meanwhile.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, `s3:`, `gs:` or `az:`
 * @param image the path of the image
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_SNAPSHOT_FORMAT`,
 *   `ERR_SNAPSHOT_DIGEST`, `ERR_TARGET`, `ERR_ARGUMENT`, and with a cache what {@link ImageCache.get} throws
 *
 * @example
 * const { imageSize } = await restoreSnapshot("sandbox.vhs", "sandbox.img");
 */
export async function restoreSnapshot(
  source: string | URL,
  image: string,
  options: RestoreOptions = {},
): Promise<RestoreInfo> {
  const start = performance.now();
  const { cache, resume, ...common } = checkOptions(options, RESTORE_CHECKS);
  const location = locationOf("source", source);
  const path = localPath("image", image);
  if (cache !== undefined) {
    const { info, hit } = await cache.get(source, { ...common, copyTo: path, durable: true });
    return { ...info, hit, duration: performance.now() - start };
  }
  const wanted = resume ? "rest" : "all";
  const opened = await openSource(location, { options: common, wanted });
  try {
    const manifest = await opened.manifest();
    checkPinned(opened.name, common.digest, manifest.info.digest);
    await writeImage(path, manifest, opened.id, { ...common, resume }, (target) =>
      opened.decode(new DecodeJob(opened.name, manifest, target), common),
    );
    return { ...manifest.info, duration: performance.now() - start };
  } finally {
    await opened.close();
  }
}
