import { checkOptions, checkPinned } from "./check.js";
import { DecodeJob } from "./decode/decode-job.js";
import type { SnapshotInfo } from "./format/manifest.js";
import { locationOf } from "./location/location.js";
import { openSource, READ_CHECKS, type ReadWorkOptions } from "./location/source.js";
import { WORK_CHECKS } from "./workers/pool.js";

/**
 * Verifies every byte of a snapshot: the digest of each frame, that it decodes to what the manifest says, and
 * also the header and the frames of holes, which a restore does not read.
 *
 * @param source the path of the snapshot, or its URL: `file:`, `http:`, `https:`, `s3:`, `gs:` or `az:`
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_SNAPSHOT_FORMAT`,
 *   `ERR_SNAPSHOT_DIGEST`, `ERR_ARGUMENT`
 *
 * @example
 * await verifySnapshot("sandbox.vhs", { digest });
 */
export async function verifySnapshot(
  source: string | URL,
  options: ReadWorkOptions = {},
): Promise<SnapshotInfo> {
  options = checkOptions(options, { ...WORK_CHECKS, ...READ_CHECKS });
  const location = locationOf("source", source);
  const opened = await openSource(location, { options, wanted: "all" });
  try {
    const manifest = await opened.manifest(true);
    checkPinned(opened.name, options.digest, manifest.info.digest);
    await opened.decode(new DecodeJob(opened.name, manifest, undefined), options);
    return manifest.info;
  } finally {
    await opened.close();
  }
}
