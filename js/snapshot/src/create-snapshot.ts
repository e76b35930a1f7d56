import { stat } from "node:fs/promises";

import { encodeImage } from "./encode-image.js";
import { SnapshotError } from "./error.js";
import { ImageFile } from "./local/image-file.js";
import { localPath } from "./local/path.js";
import { SnapshotFile } from "./local/snapshot-file.js";
import { writeWhole, writing } from "./local/whole-file.js";
import { readManifest, type SnapshotInfo } from "./manifest.js";
import type { WorkOptions } from "./options.js";

/** What {@link createSnapshot} can be told. The same image, level and piece size give the same file. */
export interface CreateOptions extends WorkOptions {
  /** The level of zstd's compression, 1 to 19; 3 unless it is said. */
  readonly level?: number | undefined;
  /**
   * The most bytes of the image that one frame holds: a power of two from 4 KiB to 16 MiB; 1 MiB unless
   * it is said. Smaller pieces can be read on their own, and compress less.
   */
  readonly pieceSize?: number | undefined;
}

/**
 * Makes a snapshot of a disk image: a file that restores in parallel, and that any zstd tool can read.
 *
 * The snapshot appears under its name when all of it is there and on the disk; whatever happens before,
 * what had that name stays as it was. An image that changes meanwhile, by its size or time, is refused.
 * Only the owner may read the snapshot.
 *
 * @param image the path of the image
 * @param destination the path or `file:` URL of the snapshot
 * @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED`, `ERR_TARGET`, `ERR_ARGUMENT`
 *
 * @example
 * const { digest, fileSize } = await createSnapshot("sandbox.img", "sandbox.vhs");
 */
export async function createSnapshot(
  image: string,
  destination: string | URL,
  options: CreateOptions = {},
): Promise<SnapshotInfo> {
  const target = localPath("destination", destination);
  const file = await ImageFile.open(localPath("image", image));
  try {
    await checkOther(file, target);
    return await writeWhole(target, options.signal, async (handle) => {
      await encodeImage(file, options, async (bytes) => {
        for await (const chunk of bytes) await writing(target, handle.writeFile(chunk));
      });
      await file.checkUnchanged();
      const { info } = await readManifest(await SnapshotFile.of(target, handle));
      return info;
    });
  } finally {
    await file.close();
  }
}

/** Throws if the snapshot would take the place of its image. */
async function checkOther(image: ImageFile, target: string): Promise<void> {
  const found = await stat(target, { bigint: true }).catch(() => undefined);
  if (found === undefined || !image.isAt(found)) return;
  const message = `destination: expected another file than the image, found ${target}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}
