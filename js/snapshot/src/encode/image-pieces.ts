import type { ImageFile } from "../local/image-file.js";
import type { Encoding } from "../options/create-options.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import { ENCODE_WORKER } from "../workers/scripts.js";
import type { Pieces } from "./compress-pieces.js";
import type { CompressedPiece, EncodeData } from "./encode-worker.js";
import { pieces, type Stretch, toRead } from "./pieces.js";
import { zeros } from "./run-records.js";

/**
 * Returns all pieces of an image. Those without data need no worker.
 *
 * @param recordsOnly whether results have the records of the runs only, and no data
 */
export async function imagePieces(
  image: ImageFile,
  encoding: Encoding,
  recordsOnly = false,
): Promise<Pieces<Stretch, CompressedPiece>> {
  const extents = await image.extents();
  const { pieceSize } = encoding;
  const module = await compiledEncode();
  const opened = { image: image.fd, imageName: image.name };
  const data: EncodeData = { module, ...encoding, ...opened, recordsOnly };
  return {
    tasks: pieces(image.size, pieceSize, extents),
    ...toRead(image.size, pieceSize, extents),
    ...{ pieceSize, script: ENCODE_WORKER, data },
    known({ length, isZero }) {
      return isZero ? { length: 0, runs: zeros(length), bytes: new Uint8Array(0) } : undefined;
    },
  };
}
