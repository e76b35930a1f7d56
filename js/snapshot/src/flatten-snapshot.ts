import type { CreateInfo } from "./create-snapshot.js";
import { checkEncoding } from "./encode/snapshot-encoder.js";
import { flattenByCopies } from "./flatten/flatten-by-copies.js";
import { flattenImage } from "./flatten/flatten-image.js";
import { knownLocation, optionsFor } from "./location/base-objects.js";
import { checkDestination } from "./location/check-destination.js";
import { locationOf } from "./location/location.js";
import { withSource } from "./location/source.js";
import { checkOverwrite, encodingOf } from "./options/create-options.js";
import { checkPinned } from "./options/digest.js";
import type { FlattenOptions } from "./options/flatten-options.js";
import { readOptions } from "./options/read-options.js";
import { transferOf } from "./options/transfer-options.js";
import { checkedDigest, checkWork } from "./options/work-options.js";
import { UnsupportedCopy } from "./s3/content.js";
import { compiledEncode } from "./wasm/compiled-encode.js";

/**
 * Makes a full snapshot of a delta: the same file as {@link createSnapshot} makes of its image with the same
 * `level` and `pieceSize`. Does not change the delta and its base objects. Also changes the level or the piece size of
 * a full snapshot.
 *
 * The snapshot appears at its destination when it is complete; if anything fails before, an existing file or
 * object stays as it was.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, or `s3://bucket/key`
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
  options = readOptions(options);
  const digest = checkedDigest(options);
  checkWork(options);
  checkOverwrite(options);
  const transfer = transferOf(options);
  checkEncoding(await compiledEncode(), encodingOf(options));
  const from = locationOf("source", source);
  const to = locationOf("destination", destination);
  // Most of the source may be copied without reading it.
  const wanted = from.kind === "s3" && to.kind === "s3" ? "info" : "all";
  return withSource(from, { options, wanted }, async (opened) => {
    const manifest = await opened.manifest();
    const { digest: found, pieceSize, delta } = manifest.info;
    checkPinned(opened.name, digest, found);
    const objects = delta?.objects ?? [];
    const bases = objects.map((object) => knownLocation(from, object, options));
    const locations = [from, ...(await Promise.all(bases))];
    await checkDestination(to, locations, options);
    const job = {
      ...{ source: opened, manifest, locations, destination: to, transfer },
      encoding: encodingOf({ pieceSize, ...options }),
      reading: options,
      writing: optionsFor(from, to, options),
    };
    const copied =
      to.kind === "s3" ? await flattenByCopies(job, to).catch(throwIfSupported) : undefined;
    const info = copied ?? (await flattenImage(job));
    return { ...info, duration: performance.now() - start };
  });
}

/** Throws an error, unless it is that the service does not support copies. */
function throwIfSupported(error: unknown): undefined {
  if (!(error instanceof UnsupportedCopy)) throw error;
}
