import { checkEncoding, SnapshotAssembly } from "./assembly.js";
import { type CreateOptions, encodingOf } from "./create-options.js";
import { encodeImage } from "./encode-image.js";
import { ImageFile } from "./local/image-file.js";
import { checkOther } from "./local/other-file.js";
import { localPath } from "./local/path.js";
import { SnapshotFile } from "./local/snapshot-file.js";
import { writeWhole, writing } from "./local/whole-file.js";
import { readManifest, type SnapshotInfo } from "./manifest.js";
import { checkWork } from "./options.js";
import { compiledModule } from "./wasm/module.js";

/** What was made. */
export interface CreateInfo extends SnapshotInfo {
  /** How long it took, in milliseconds. */
  readonly duration: number;
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
): Promise<CreateInfo> {
  const start = performance.now();
  checkWork(options);
  const encoding = encodingOf(options);
  const module = await compiledModule("encode");
  checkEncoding(module, encoding);
  const target = localPath("destination", destination);
  const file = await ImageFile.open(localPath("image", image));
  try {
    await checkOther("destination", target, file.id);
    const assembly = new SnapshotAssembly(module, file, encoding);
    try {
      const info = await writeWhole(target, options.signal, async (handle) => {
        await encodeImage(assembly, options, async (bytes) => {
          for await (const chunk of bytes) await writing(target, handle.writeFile(chunk));
        });
        await file.checkUnchanged();
        return (await readManifest(await SnapshotFile.of(target, handle))).info;
      });
      return { ...info, duration: performance.now() - start };
    } finally {
      assembly.free();
    }
  } finally {
    await file.close();
  }
}
