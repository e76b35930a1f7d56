import type { Manifest } from "../format/manifest.js";
import { checkFreeSpace } from "../local/free-space.js";
import { checkOther, type FileId } from "../local/other-file.js";
import { writeWhole, writing } from "../local/whole-file.js";
import type { RestoreOptions } from "../options/restore-options.js";
import type { OpenImage } from "./frame-work.js";
import { writeResumable } from "./resumable-image.js";

/**
 * Has `write` fill the image of a snapshot, which appears when it is whole.
 *
 * @param from the file that it is restored from, if it is one
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`, and what `write` throws
 */
export async function writeImage(
  path: string,
  manifest: Manifest,
  from: FileId | undefined,
  options: RestoreOptions,
  write: (image: OpenImage) => Promise<void>,
): Promise<void> {
  if (from !== undefined) await checkOther("image", path, from);
  // While another process is at the same, this one does without.
  if (options.resume && (await writeResumable(path, manifest, options, write))) return;
  const { dataSize, imageSize } = manifest.info;
  await writeWhole(path, options, async (handle) => {
    await checkFreeSpace(path, dataSize);
    await writing(path, handle.truncate(imageSize));
    await write({ fd: handle.fd, name: path, journal: undefined });
  });
}
