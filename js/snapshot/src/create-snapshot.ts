import { CACHE, type ImageCache, leaseCached } from "./cache/image-cache.js";
import {
  BOOLEAN,
  type Checks,
  checkInteger,
  checkOptions,
  DIGEST,
  FUNCTION,
  invalid,
  is,
  oneOf,
} from "./check.js";
import { type CreateInfo, createDelta } from "./delta/create-delta.js";
import { saveOverlay } from "./disk/save-overlay.js";
import type { WriteOptions } from "./encode/encode-image.js";
import {
  checkEncoding,
  ENCODING_CHECKS,
  type EncodingOptions,
  encodingOf,
} from "./encode/snapshot-encoder.js";
import type { ByteRange } from "./format/byte-ranges.js";
import { TRANSFER_CHECKS, transferOf } from "./http/transfer.js";
import { ImageFile } from "./local/image-file.js";
import type { Resolve } from "./location/base-objects.js";
import { localPath, locationOf } from "./location/location.js";
import { writeFullSnapshot, writeSnapshot } from "./location/write-snapshot.js";
import { compiledEncode } from "./wasm/compiled-encode.js";
import { WORK_CHECKS } from "./workers/pool.js";

/**
 * Options of `createSnapshot`. The same image, `level` and `pieceSize` produce the same file. A delta also depends on
 * `base`, `changed`, and the path from the delta to its base objects.
 */
export interface CreateOptions extends WriteOptions, EncodingOptions, DeltaOptions {
  /**
   * `"raw"` to store any file as it is. Pass it if others write to the image: they decide what it looks like. By
   * default, an image in another format (qcow2, VMDK, VHD, VHDX, VDI), a compressed file, an archive, a web page and a
   * snapshot are errors.
   */
  readonly format?: ImageFormat | undefined;
}

/** The format of an image. */
export type ImageFormat = "raw";

/** Options of `createSnapshot` for deltas. All but `base` need `base`. */
export interface DeltaOptions {
  /**
   * Location of the snapshot or delta to store the image relative to, usually the one that it was restored from: a
   * path, or a URL of `file:`, `http:`, `https:` or `s3:`. Default: none.
   */
  readonly base?: string | URL | undefined;
  /** Identity that the base must have, as 64 hexadecimal digits. Default: any. */
  readonly baseDigest?: string | undefined;
  /**
   * Cache to compare the image with the image of the base in. Nothing is added to it; without the image of the base,
   * it has no effect. Default: none.
   */
  readonly cache?: ImageCache | undefined;
  /**
   * Ranges of the image that may differ from the image of the base, in any order. Everything else counts as equal and
   * is not read. Default: they are detected.
   */
  readonly changed?: Iterable<ByteRange> | undefined;
  /** Returns the locations of the base objects of the base. Default: the references in the base. */
  readonly resolve?: Resolve | undefined;
  /**
   * Whether the image is a sparse file of changes: its data replaces that of the base, and its holes stand for data of
   * the base. Firecracker writes such diff snapshots of memory. Needs Linux and the optional package `koffi`. Default:
   * `false`.
   */
  readonly overlay?: boolean | undefined;
}

/** The checks of {@link CreateOptions}. */
const CREATE_CHECKS: Checks<CreateOptions> = {
  ...WORK_CHECKS,
  ...TRANSFER_CHECKS,
  ...ENCODING_CHECKS,
  format: oneOf("raw"),
  overwrite: BOOLEAN,
  verify: BOOLEAN,
  base: (name, location) => locationOf(name, location as string),
  baseDigest: DIGEST,
  cache: CACHE,
  changed: is(
    "ranges { start, end }",
    (value) => typeof value !== "string" && Symbol.iterator in Object(value),
  ),
  resolve: FUNCTION,
  overlay: BOOLEAN,
};

/** The options of a delta that need `base`. */
const DEPENDENT = ["baseDigest", "cache", "changed", "resolve", "overlay"] as const;

/** Returns a copy of ranges. @throws {SnapshotError} `ERR_ARGUMENT` */
function rangesOf(ranges: Iterable<ByteRange>): ByteRange[] {
  return Array.from(ranges, (range) => {
    const { start, end } = Object(range) as ByteRange;
    checkInteger("changed: start", start, 0, Number.MAX_SAFE_INTEGER);
    checkInteger("changed: end", end, start, Number.MAX_SAFE_INTEGER);
    return { start, end };
  });
}

/**
 * Creates a snapshot of a disk image: a file that restores in parallel, and that any zstd tool can decompress.
 *
 * The snapshot appears at its destination when it is complete; if anything fails before, an existing file or
 * object stays unchanged. Fails if the size or modification time of the image changes meanwhile.
 *
 * Before it is written, a sample of the frames is decoded and compared with the image; with `verify`, all of them.
 *
 * - A local file is flushed to the disk, and readable by its owner only.
 * - An object of a service is uploaded in parts while the snapshot is created.
 * - For any other server, the snapshot is created in a temporary file and sent by one `PUT`.
 *
 * With the option `base`, the snapshot is a delta: it contains only the blocks that differ from the image of the base.
 * Restoring it needs Hedgerow and the objects that contain the other blocks.
 *
 * @param image the path of the image
 * @param destination the path of the snapshot, or its URL: `file:`, `http:`, `https:`, `s3:`, `gs:` or `az:`
 * @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED`, `ERR_TARGET`, `ERR_WORKER`, `ERR_ARGUMENT`, and with a
 *   base `ERR_CACHE` and what `restoreSnapshot` throws
 *
 * @example
 * const { digest, fileSize } = await createSnapshot("sandbox.img", "sandbox.vhs");
 *
 * @example
 * await createSnapshot("sandbox-2.img", "sandbox-2.vhs", { base: "sandbox.vhs", baseDigest: digest });
 */
export async function createSnapshot(
  image: string,
  destination: string | URL,
  options: CreateOptions = {},
): Promise<CreateInfo> {
  const start = performance.now();
  options = checkOptions(options, CREATE_CHECKS);
  const dependent = DEPENDENT.find((name) => options[name] !== undefined);
  if (options.base === undefined && dependent !== undefined)
    throw invalid(dependent, "the option base with it", "none");
  const { overlay = false } = options;
  if (overlay && options.changed !== undefined)
    throw invalid("changed", "none with overlay", "ranges");
  const changed = options.changed && rangesOf(options.changed);
  const encoding = encodingOf(options);
  checkEncoding(await compiledEncode(), encoding);
  const path = localPath("image", image);
  const location = locationOf("destination", destination);
  options.signal?.throwIfAborted();
  const file = await ImageFile.open(path);
  try {
    if (options.format === undefined) await file.checkRaw();
    const job = { image: file, encoding, options, transfer: transferOf(options) };
    const { base, baseDigest, cache } = options;
    if (base !== undefined && overlay) {
      const found = { file, path, base: locationOf("base", base), baseDigest, cache };
      const info = await saveOverlay({ ...found, destination: location }, options);
      return { ...info, duration: performance.now() - start };
    }
    const info =
      base === undefined
        ? await writeFullSnapshot((making) => writeSnapshot(location, making), job)
        : await createDelta({
            ...job,
            destination: location,
            delta: { base: locationOf("base", base), baseDigest, changed },
            lease: async (digest) => cache && leaseCached(cache, digest),
          });
    return { ...info, duration: performance.now() - start };
  } finally {
    await file.close();
  }
}
