import { checkEncoding, SnapshotAssembly } from "./encode/assembly.js";
import { encodeImage } from "./encode/encode-image.js";
import type { SnapshotInfo } from "./format/manifest.js";
import { ImageFile } from "./local/image-file.js";
import { type CreateOptions, checkOverwrite, encodingOf } from "./options/create-options.js";
import { readOptions } from "./options/read-options.js";
import { transferOf } from "./options/transfer-options.js";
import { checkWork } from "./options/work-options.js";
import { writeSnapshot } from "./places/destination.js";
import { localPath, locationOf } from "./places/location.js";
import { compiledModule } from "./wasm/module.js";

/** What was made. */
export interface CreateInfo extends SnapshotInfo {
  /** How long it took, in milliseconds. */
  readonly duration: number;
}

/**
 * Makes a snapshot of a disk image: a file that restores in parallel, and that any zstd tool can read.
 *
 * The snapshot appears under its name when all of it is there; whatever happens before, what had that
 * name stays as it was. An image that changes meanwhile, by its size or time, is refused.
 *
 * - A file is on the disk then, and only the owner may read it.
 * - An object of S3 is sent while it is made, in parts.
 * - To a server, it is sent in one `PUT` when all of it is made, from a temporary file.
 *
 * @param image the path of the image
 * @param destination the path of the snapshot, or its URL: `file:`, `http:`, `https:`, or
 *   `s3://bucket/key`
 * @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED`, `ERR_TARGET`, `ERR_ARGUMENT`
 *
 * @example
 * const { digest, fileSize } = await createSnapshot("sandbox.img", "sandbox.vhs");
 */
export async function createSnapshot(
  image: string,
  destination: string | URL,
  options: CreateOptions = {},
): Promise<CreateInfo> {
  const start = performance.now();
  options = readOptions(options);
  checkWork(options);
  checkOverwrite(options);
  const [transfer, encoding] = [transferOf(options), encodingOf(options)];
  const module = await compiledModule("encode");
  checkEncoding(module, encoding);
  const [path, location] = [localPath("image", image), locationOf("destination", destination)];
  options.signal?.throwIfAborted();
  const file = await ImageFile.open(path);
  try {
    const assembly = new SnapshotAssembly(module, file, encoding);
    try {
      const info = await writeSnapshot(location, {
        image: file,
        encoding,
        options,
        transfer,
        async make(write) {
          await encodeImage(assembly, options, write);
          await file.checkUnchanged();
        },
      });
      return { ...info, duration: performance.now() - start };
    } finally {
      assembly.free();
    }
  } finally {
    await file.close();
  }
}
