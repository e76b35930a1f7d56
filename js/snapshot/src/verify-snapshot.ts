import { decodeFrames } from "./decode-frames.js";
import { localPath } from "./local/path.js";
import { SnapshotFile } from "./local/snapshot-file.js";
import { readManifest, type SnapshotInfo } from "./manifest.js";
import { checkedDigest, checkPinned, checkWork, type ReadWorkOptions } from "./options.js";

/**
 * Reads all of a snapshot, and checks every byte: the digest of each frame, that it decodes to what the
 * manifest says, and what restoring does not look at, the header and the frames of holes.
 *
 * @param source the path or `file:` URL of the snapshot
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SNAPSHOT_FORMAT`, `ERR_SNAPSHOT_DIGEST`, `ERR_ARGUMENT`
 *
 * @example
 * await verifySnapshot("sandbox.vhs", { digest });
 */
export async function verifySnapshot(
  source: string | URL,
  options: ReadWorkOptions = {},
): Promise<SnapshotInfo> {
  const digest = checkedDigest(options);
  checkWork(options);
  const file = await SnapshotFile.open(localPath("source", source));
  try {
    const manifest = await readManifest(file, true);
    checkPinned(file.name, digest, manifest.info.digest);
    await decodeFrames(file, manifest, undefined, options);
    return manifest.info;
  } finally {
    await file.close();
  }
}
