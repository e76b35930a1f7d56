import type { ImageFile } from "../local/image-file.js";
import type { CreateOptions, Encoding } from "../options/create-options.js";
import type { Transfer } from "../options/transfer-options.js";

/** The snapshot that is to be written somewhere. */
export interface Making {
  readonly image: ImageFile;
  readonly encoding: Encoding;
  readonly options: CreateOptions;
  readonly transfer: Transfer;
  /**
   * Makes it. `write` is given its bytes, in their order; what it says of them is checked when this is
   * done, and only then may the snapshot appear.
   */
  make(write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void>;
}
