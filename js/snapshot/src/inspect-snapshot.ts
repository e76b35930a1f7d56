import type { SnapshotInfo } from "./format/manifest.js";
import { locationOf } from "./location/location.js";
import { withSource } from "./location/source.js";
import { checkPinned } from "./options/digest.js";
import { readOptions } from "./options/read-options.js";
import { checkedDigest, checkWork, type ReadOptions } from "./options/work-options.js";

/**
 * Returns the properties of a snapshot. Reads only its manifest, at its end.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, or `s3://bucket/key`
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_SNAPSHOT_FORMAT`,
 *   `ERR_SNAPSHOT_DIGEST`, `ERR_ARGUMENT`
 *
 * @example
 * const { imageSize, fileSize } = await inspectSnapshot("sandbox.vhs");
 */
export async function inspectSnapshot(
  source: string | URL,
  options: ReadOptions = {},
): Promise<SnapshotInfo> {
  options = readOptions(options);
  const digest = checkedDigest(options);
  checkWork(options);
  const location = locationOf("source", source);
  return withSource(location, { options, wanted: "info" }, async (opened) => {
    const { info } = await opened.manifest();
    checkPinned(opened.name, digest, info.digest);
    return info;
  });
}
