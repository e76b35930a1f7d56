import { checkedCache, leaseCached } from "./cache/image-cache.js";
import { createDelta, type DeltaResult } from "./delta/create-delta.js";
import { checkEncoding } from "./encode/snapshot-encoder.js";
import type { SnapshotInfo } from "./format/manifest.js";
import { ImageFile } from "./local/image-file.js";
import { writeSnapshot } from "./location/destination.js";
import { writeFullSnapshot } from "./location/full-snapshot.js";
import { localPath, locationOf } from "./location/location.js";
import {
  type CreateOptions,
  checkFormat,
  checkOverwrite,
  encodingOf,
} from "./options/create-options.js";
import { deltaOf } from "./options/delta-options.js";
import { readOptions } from "./options/read-options.js";
import { transferOf } from "./options/transfer-options.js";
import { checkWork } from "./options/work-options.js";
import { compiledEncode } from "./wasm/compiled-encode.js";

/** The result of {@link createSnapshot}. */
export interface CreateInfo extends SnapshotInfo, Partial<DeltaResult> {
  /** The duration of the call, in milliseconds. */
  readonly duration: number;
}

/**
 * Creates a snapshot of a disk image: a file that restores in parallel, and that any zstd tool can decompress.
 *
 * The snapshot appears at its destination when it is complete; if anything fails before, an existing file or
 * object stays as it was. Fails if the size or modification time of the image changes meanwhile.
 *
 * - A local file is flushed to the disk, and readable by its owner only.
 * - An object of S3 is uploaded in parts while the snapshot is created.
 * - For any other server, the snapshot is created in a temporary file and sent by one `PUT`.
 *
 * With the option `base`, the snapshot is a delta: it contains only the blocks that differ from the image of the base.
 * Restoring it needs Hedgerow and the objects that contain the other blocks.
 *
 * @param image the path of the image
 * @param destination the path of the snapshot, or its URL: `file:`, `http:`, `https:`, or
 *   `s3://bucket/key`
 * @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED`, `ERR_TARGET`, `ERR_ARGUMENT`, and with a base
 *   `ERR_CACHE` and what `restoreSnapshot` throws
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
  options = readOptions(options);
  checkWork(options);
  checkOverwrite(options);
  checkFormat(options);
  const delta = deltaOf(options);
  const cache = checkedCache(options.cache);
  const [transfer, encoding] = [transferOf(options), encodingOf(options)];
  const module = await compiledEncode();
  checkEncoding(module, encoding);
  const [path, location] = [localPath("image", image), locationOf("destination", destination)];
  const base = delta && { ...delta, base: locationOf("base", delta.base) };
  options.signal?.throwIfAborted();
  const file = await ImageFile.open(path);
  try {
    if (options.format === undefined) await file.checkRaw();
    const job = { image: file, encoding, options, transfer };
    const info =
      base === undefined
        ? await writeFullSnapshot((making) => writeSnapshot(location, making), job)
        : await createDelta({
            ...{ ...job, destination: location, delta: base },
            lease: async (digest) => cache && leaseCached(cache, digest),
          });
    return { ...info, duration: performance.now() - start };
  } finally {
    await file.close();
  }
}
