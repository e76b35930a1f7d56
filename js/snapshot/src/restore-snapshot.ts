import { checkedCache, type ImageCache } from "./cache/image-cache.js";
import { DecodeJob } from "./decode/decode-job.js";
import { writeImage } from "./decode/restored-image.js";
import type { SnapshotInfo } from "./format/manifest.js";
import { localPath, locationOf } from "./location/location.js";
import { withSource } from "./location/source.js";
import { checkPinned } from "./options/digest.js";
import { readOptions } from "./options/read-options.js";
import { checkRestore, type RestoreOptions } from "./options/restore-options.js";
import { checkedDigest, checkWork } from "./options/work-options.js";

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
 * an existing file stays as it was. Holes stay holes. Only the owner may read the image.
 *
 * From a server, ranges are downloaded in parallel, decoded as they arrive, and retried if they fail. Fails if
 * the snapshot changes meanwhile.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, or `s3://bucket/key`
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
  options = readOptions(options);
  const digest = checkedDigest(options);
  checkWork(options);
  checkRestore(options);
  const [location, path] = [locationOf("source", source), localPath("image", image)];
  const cache = checkedCache(options.cache);
  if (cache !== undefined) {
    const { info, hit } = await cache.get(source, { ...options, copyTo: path, durable: true });
    return { ...info, hit, duration: performance.now() - start };
  }
  const wanted = options.resume ? "rest" : "all";
  return withSource(location, { options, wanted }, async (opened) => {
    const manifest = await opened.manifest();
    checkPinned(opened.name, digest, manifest.info.digest);
    await writeImage(path, manifest, opened.id, options, (target) =>
      opened.decode(new DecodeJob(opened.name, manifest, target), options),
    );
    return { ...manifest.info, duration: performance.now() - start };
  });
}
