import { checkOptions, checkPinned } from "./check.js";
import type { SnapshotInfo } from "./format/manifest.js";
import { locationOf } from "./location/location.js";
import { openSource, READ_CHECKS, type ReadOptions } from "./location/source.js";

/**
 * Returns the properties of a snapshot. Reads only its manifest, at its end.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, `s3:`, `gs:` or `az:`
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
  options = checkOptions(options, READ_CHECKS);
  const location = locationOf("source", source);
  const opened = await openSource(location, { options, wanted: "info" });
  try {
    const { info } = await opened.manifest();
    checkPinned(opened.name, options.digest, info.digest);
    return info;
  } finally {
    await opened.close();
  }
}
