import { localPath } from "./local/path.js";
import { SnapshotFile } from "./local/snapshot-file.js";
import { readManifest, type SnapshotInfo } from "./manifest.js";
import { checkedDigest, checkPinned, type ReadOptions } from "./options.js";

/**
 * Says what is in a snapshot, from its last bytes. Its data is not read.
 *
 * @param source the path or `file:` URL of the snapshot
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SNAPSHOT_FORMAT`, `ERR_SNAPSHOT_DIGEST`, `ERR_ARGUMENT`
 *
 * @example
 * const { imageSize, fileSize } = await inspectSnapshot("sandbox.vhs");
 */
export async function inspectSnapshot(
  source: string | URL,
  options: ReadOptions = {},
): Promise<SnapshotInfo> {
  const digest = checkedDigest(options);
  const file = await SnapshotFile.open(localPath("source", source));
  try {
    const { info } = await readManifest(file);
    checkPinned(file.name, digest, info.digest);
    return info;
  } finally {
    await file.close();
  }
}
