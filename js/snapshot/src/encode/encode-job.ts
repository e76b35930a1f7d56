import type { ImageFile } from "../local/image-file.js";
import type { CreateOptions, Encoding } from "../options/create-options.js";
import type { Transfer } from "../options/transfer-options.js";

/** A snapshot to encode and write to a destination. */
export interface EncodeJob {
  readonly image: ImageFile;
  readonly encoding: Encoding;
  readonly options: CreateOptions;
  readonly transfer: Transfer;
  /**
   * Encodes the image and passes the bytes of the snapshot to `write`, in order. Publish the snapshot only
   * after this has resolved: an image that changed meanwhile is detected at the end.
   */
  make(write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void>;
}
