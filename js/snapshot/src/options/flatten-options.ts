import type { CreateOptions } from "./create-options.js";
import type { ReadOptions } from "./work-options.js";

/** Options of `flattenSnapshot`: of the snapshot that is read, and of the one that is created. */
export interface FlattenOptions
  extends Pick<CreateOptions, "level" | "overwrite" | "workers" | "onProgress">,
    ReadOptions {
  /**
   * Maximum size of the part of the image in one frame, in bytes: a power of two from 4 KiB to 16 MiB. Default:
   * that of the source.
   */
  readonly pieceSize?: number | undefined;
}
