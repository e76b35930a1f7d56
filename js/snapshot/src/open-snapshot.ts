import { checkedCache } from "./cache/image-cache.js";
import { Disk } from "./disk/disk.js";
import { openDisk } from "./disk/open-disk.js";
import { traceFor, traceOption } from "./disk/trace.js";
import { localPath, locationOf } from "./location/location.js";
import { checkOpen, type OpenOptions } from "./options/open-options.js";
import { readOptions } from "./options/read-options.js";
import { checkedDigest } from "./options/work-options.js";

/**
 * Opens a snapshot as a disk, which can be read and written to at once: reads fetch what they need, and the rest arrives
 * in the background.
 *
 * Every byte is verified before anyone sees it. Writes go to the local image, and are never overwritten. The image and
 * what was written survive a kill at any moment, and a power failure if they were flushed.
 *
 * Needs Linux and the optional package `koffi`.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, or `s3://bucket/key`
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_SNAPSHOT_FORMAT`, `ERR_SNAPSHOT_DIGEST`,
 *   `ERR_TARGET`, `ERR_ARGUMENT`
 *
 * @example
 * const disk = await openSnapshot("sandbox.vhs", { image: "sandbox.img" });
 * const superblock = await disk.read(1024, 1024);
 * await disk.close();
 */
export async function openSnapshot(source: string | URL, options: OpenOptions): Promise<Disk> {
  const begun = performance.now();
  options = readOptions(options);
  checkOpen(options);
  const location = locationOf("source", source);
  const parts = await openDisk({
    begun,
    location,
    path: localPath("image", options.image),
    digest: checkedDigest(options),
    cache: checkedCache(options.cache),
    trace: traceFor(traceOption(options.trace), location),
    options,
  });
  return new Disk(parts);
}
