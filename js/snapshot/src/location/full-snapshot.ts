import type { EncodeJob } from "../encode/encode-image.js";
import { encodeImage } from "../encode/encode-image.js";
import { imagePieces } from "../encode/image-pieces.js";
import { SnapshotEncoder } from "../encode/snapshot-encoder.js";
import type { SnapshotInfo } from "../format/manifest.js";
import { compiledEncode } from "../wasm/compiled-encode.js";

/**
 * Writes a full snapshot of an image.
 *
 * @param write writes it somewhere, as `writeSnapshot` does
 * @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED`, `ERR_TARGET`, `ERR_ARGUMENT`
 */
export async function writeFullSnapshot(
  write: (making: EncodeJob) => Promise<SnapshotInfo>,
  job: Omit<EncodeJob, "make">,
): Promise<SnapshotInfo> {
  const { image, encoding, options } = job;
  const encoder = new SnapshotEncoder(await compiledEncode(), image, encoding);
  try {
    return await write({
      ...job,
      async make(sink) {
        await encodeImage(encoder, await imagePieces(image, encoding), options, sink);
        await image.checkUnchanged();
      },
    });
  } finally {
    encoder.free();
  }
}
