import { CACHE, type ImageCache } from "./cache/image-cache.js";
import { BOOLEAN, type Checks, checkOptions } from "./check.js";
import { Disk } from "./disk/disk.js";
import { FILL_CHECKS, type FillOptions } from "./disk/fill.js";
import { openDisk } from "./disk/open-disk.js";
import { traceFor } from "./disk/trace.js";
import { localPath, locationOf } from "./location/location.js";
import { READ_CHECKS, type ReadWorkOptions } from "./location/source.js";
import { WORK_CHECKS } from "./workers/pool.js";

/** Options of `openSnapshot`. */
export interface OpenOptions extends ReadWorkOptions, FillOptions {
  /**
   * The path of the image, which appears when it is complete. If it was opened before, with the same snapshot, the disk
   * resumes.
   */
  readonly image: string;
  /** A cache that may have the image of a base of the snapshot. Default: none. */
  readonly cache?: ImageCache | undefined;
  /** Whether the disk refuses writes. Default: `false`. */
  readonly readOnly?: boolean | undefined;
}

const OPEN_CHECKS: Checks<OpenOptions> = {
  ...WORK_CHECKS,
  ...READ_CHECKS,
  ...FILL_CHECKS,
  image: (name, path) => localPath(name, path as string),
  cache: CACHE,
  readOnly: BOOLEAN,
};

/**
 * Opens a snapshot as a disk, which can be read and written to at once: reads fetch what they need, and the rest arrives
 * in the background.
 *
 * Every byte is verified before anyone sees it. Writes go to the local image, and are never overwritten. The image and
 * what was written survive a kill at any moment, and a power failure if they were flushed.
 *
 * Needs Linux and the optional package `koffi`.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, `s3:`, `gs:` or `az:`
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
  options = checkOptions(options, OPEN_CHECKS);
  const location = locationOf("source", source);
  const open = await openDisk({
    begun,
    location,
    path: localPath("image", options.image),
    digest: options.digest?.toLowerCase(),
    cache: options.cache,
    trace: traceFor(options.trace, location),
    isReadOnly: options.readOnly,
    options,
  });
  return new Disk(open);
}
