/** Private, writable copies of images: reflinks where the file system has them, copies of the data elsewhere. */

import { type AtomicWriteOptions, wrapWriteErrors, writeAtomically } from "./atomic-write.js";
import { type CopyTask, checkLength, copyData, type OpenedImage } from "./copy-data.js";
import { libc } from "./libc.js";

/** Options of {@link copyImage}. */
export interface CopyOptions extends AtomicWriteOptions {
  readonly isDurable: boolean;
}

/**
 * Makes a private, writable copy of an open image. On file systems with reflinks (XFS, btrfs) the copy
 * shares the blocks of the image; elsewhere the data is copied and holes stay holes. The copy appears
 * whole or not at all.
 *
 * Keep the image open until the promise settles. Its file position changes.
 *
 * @returns how the copy was made
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_IMAGE`, `ERR_IMAGE_CHANGED`
 */
export async function copyImage(
  image: OpenedImage,
  path: string,
  options: CopyOptions,
): Promise<"clone" | "copy"> {
  options.signal?.throwIfAborted();
  return writeAtomically(path, options, (file) =>
    copyInto({ image, path, file, signal: options.signal }),
  );
}

/**
 * Copies an open image into an empty file, as {@link copyImage} does.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_IMAGE`, `ERR_IMAGE_CHANGED`
 */
export async function copyInto(task: CopyTask): Promise<"clone" | "copy"> {
  if (await clone(task)) return "clone";
  task.signal?.throwIfAborted();
  await copyData(task);
  return "copy";
}

/** Clones the image if the file system can. Returns false on any failure: copying may still succeed. */
async function clone({ image, path, file }: CopyTask): Promise<boolean> {
  const system = await libc();
  if (system === undefined || (await system.clone(file.fd, image.fd)) < 0) return false;
  const { size } = await wrapWriteErrors(path, file.stat());
  checkLength(image, size);
  if (size > image.size) await wrapWriteErrors(path, file.truncate(image.size));
  return true;
}
