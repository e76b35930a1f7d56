import { BOOLEAN, type Checks, checkOptions, checkPinned } from "./check.js";
import { DecodeJob } from "./decode/decode-job.js";
import type { CreateInfo } from "./delta/create-delta.js";
import type { WriteOptions } from "./encode/encode-image.js";
import {
  checkEncoding,
  ENCODING_CHECKS,
  type EncodingOptions,
  encodingOf,
} from "./encode/snapshot-encoder.js";
import { transferOf } from "./http/transfer.js";
import { checkFreeSpace } from "./local/disk-space.js";
import { ImageFile } from "./local/image-file.js";
import { openTemporaryFile } from "./local/private-file.js";
import { wrapWriteErrors } from "./local/system-errors.js";
import { knownLocation, optionsFor } from "./location/base-objects.js";
import { checkDestination, locationOf } from "./location/location.js";
import { openSource, READ_CHECKS, type ReadOptions } from "./location/source.js";
import { writeFullSnapshot, writeSnapshot } from "./location/write-snapshot.js";
import { compiledEncode } from "./wasm/compiled-encode.js";
import { WORK_CHECKS } from "./workers/pool.js";

/** Options of `flattenSnapshot`: of the snapshot that is read, and of the one that is created. */
export interface FlattenOptions extends WriteOptions, ReadOptions, Pick<EncodingOptions, "level"> {
  /**
   * Maximum size of the part of the image in one frame, in bytes: a power of two from 4 KiB to 16 MiB. Default:
   * that of the source.
   */
  readonly pieceSize?: number | undefined;
}

const FLATTEN_CHECKS: Checks<FlattenOptions> = {
  ...WORK_CHECKS,
  ...READ_CHECKS,
  ...ENCODING_CHECKS,
  overwrite: BOOLEAN,
  verify: BOOLEAN,
};

/**
 * Makes a full snapshot of a delta: the same file as `createSnapshot` makes of its image with the same
 * `level` and `pieceSize`. Does not change the delta and its base objects. Also changes the level or the piece size of
 * a full snapshot. Restores the image into a temporary file, which needs as much space as its data.
 *
 * The snapshot appears at its destination when it is complete; if anything fails before, an existing file or
 * object stays unchanged.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, `s3:`, `gs:` or `az:`
 * @param destination the path of the new snapshot, or its URL
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_SNAPSHOT_FORMAT`,
 *   `ERR_SNAPSHOT_DIGEST`, `ERR_TARGET`, `ERR_ARGUMENT`
 *
 * @example
 * const { digest } = await flattenSnapshot("sandbox-7.vhs", "sandbox-7-full.vhs");
 */
export async function flattenSnapshot(
  source: string | URL,
  destination: string | URL,
  options: FlattenOptions = {},
): Promise<CreateInfo> {
  const start = performance.now();
  options = checkOptions(options, FLATTEN_CHECKS);
  const transfer = transferOf(options);
  checkEncoding(await compiledEncode(), encodingOf(options));
  const from = locationOf("source", source);
  const to = locationOf("destination", destination);
  const opened = await openSource(from, { options, wanted: "all" });
  try {
    const manifest = await opened.manifest();
    const { digest: found, imageSize, dataSize, pieceSize, delta } = manifest.info;
    checkPinned(opened.name, options.digest, found);
    const bases = (delta?.objects ?? []).map((object) => knownLocation(from, object, options));
    await checkDestination(to, [from, ...(await Promise.all(bases))], options);
    const { path: name, handle } = await openTemporaryFile();
    try {
      await checkFreeSpace(name, dataSize);
      await wrapWriteErrors(name, handle.truncate(imageSize));
      const target = { fd: handle.fd, name, mayHoldData: false, journal: undefined };
      await opened.decode(new DecodeJob(opened.name, manifest, target), options);
      const info = await writeFullSnapshot((making) => writeSnapshot(to, making), {
        image: await ImageFile.of(name, handle),
        encoding: encodingOf({ pieceSize, ...options }),
        options: optionsFor(from, to, options),
        transfer,
      });
      return { ...info, duration: performance.now() - start };
    } finally {
      await handle.close();
    }
  } finally {
    await opened.close();
  }
}
