import { decodeFrames } from "./decode-frames.js";
import { checkOther } from "./local/other-file.js";
import { localPath } from "./local/path.js";
import { SnapshotFile } from "./local/snapshot-file.js";
import { writeWhole, writing } from "./local/whole-file.js";
import { readManifest, type SnapshotInfo } from "./manifest.js";
import { checkedDigest, checkPinned, checkWork, type ReadWorkOptions } from "./options.js";

/** What was restored. */
export interface RestoreInfo extends SnapshotInfo {
  /** How long it took, in milliseconds. */
  readonly duration: number;
}

/**
 * Restores a disk image from a snapshot.
 *
 * The image appears under its name when all of it is there, checked and on the disk; whatever happens
 * before, what had that name stays as it was. Holes stay holes. Only the owner may read the image.
 *
 * @param source the path or `file:` URL of the snapshot
 * @param image the path of the image
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SNAPSHOT_FORMAT`, `ERR_SNAPSHOT_DIGEST`, `ERR_TARGET`,
 *   `ERR_ARGUMENT`
 *
 * @example
 * const { imageSize } = await restoreSnapshot("sandbox.vhs", "sandbox.img");
 */
export async function restoreSnapshot(
  source: string | URL,
  image: string,
  options: ReadWorkOptions = {},
): Promise<RestoreInfo> {
  const start = performance.now();
  const digest = checkedDigest(options);
  checkWork(options);
  const target = localPath("image", image);
  const file = await SnapshotFile.open(localPath("source", source));
  try {
    await checkOther("image", target, file.id);
    const manifest = await readManifest(file);
    checkPinned(file.name, digest, manifest.info.digest);
    await writeWhole(target, options.signal, async (handle) => {
      await writing(target, handle.truncate(manifest.info.imageSize));
      await decodeFrames(file, manifest, { fd: handle.fd, name: target }, options);
    });
    return { ...manifest.info, duration: performance.now() - start };
  } finally {
    await file.close();
  }
}
