import type { ImageCache } from "../cache/image-cache.js";
import { checkBooleans } from "./check-booleans.js";
import type { ReadWorkOptions } from "./work-options.js";

/** Options of `restoreSnapshot`. */
export interface RestoreOptions extends ReadWorkOptions {
  /** Whether to replace an existing image. Default: `true`. */
  readonly overwrite?: boolean | undefined;
  /**
   * Keeps the restored frames if the restore fails, is aborted or is killed: the next call with `resume`
   * for the same snapshot and image continues from there. Costs a digest of all restored data. Needs
   * Linux and the optional package `koffi`; without them nothing is kept. Default: `false`.
   */
  readonly resume?: boolean | undefined;
  /**
   * Restores through this cache: the image is a copy of the cached one, and the snapshot is fetched only if
   * it is not cached. On file systems with reflinks (XFS, btrfs) the copy takes no time or space. The cache
   * itself keeps what an interrupted restore has fetched, so `resume` has no effect. Default: no cache.
   */
  readonly cache?: ImageCache | undefined;
}

/** Checks the boolean options of a restore. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkRestore(options: RestoreOptions): void {
  checkBooleans(options, ["overwrite", "resume"]);
}
