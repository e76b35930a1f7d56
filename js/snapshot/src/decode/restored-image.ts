import type { Manifest } from "../format/manifest.js";
import { writeAtomically } from "../local/atomic-write.js";
import { checkFreeSpace } from "../local/disk-space.js";
import { checkDifferentFile, type FileId } from "../local/open-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import type { RestoreOptions } from "../options/restore-options.js";
import type { OpenImage } from "./decode-job.js";
import { writeResumable } from "./resumable-image.js";

/**
 * Opens the image of a snapshot, calls `write` to fill it, and renames it to `path` when it is complete.
 *
 * @param from the snapshot, if it is a local file: it must not be the image
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`, and what `write` throws
 */
export async function writeImage(
  path: string,
  manifest: Manifest,
  from: FileId | undefined,
  options: RestoreOptions,
  write: (image: OpenImage) => Promise<void>,
): Promise<void> {
  if (from !== undefined) await checkDifferentFile("image", path, from);
  // If another process is resuming the same restore, restore without a journal.
  if (options.resume && (await writeResumable(path, manifest, options, write))) return;
  const { dataSize, imageSize } = manifest.info;
  await writeAtomically(path, options, async (handle) => {
    await checkFreeSpace(path, dataSize);
    await wrapWriteErrors(path, handle.truncate(imageSize));
    await write({ fd: handle.fd, name: path, mayHoldData: false, journal: undefined });
  });
}
