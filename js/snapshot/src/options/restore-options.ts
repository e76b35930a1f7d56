import type { ImageCache } from "../cache/image-cache.js";
import { checkBooleans } from "./check-booleans.js";
import type { ReadWorkOptions } from "./work-options.js";

/** What `restoreSnapshot` can be told. */
export interface RestoreOptions extends ReadWorkOptions {
  /** Whether an image that is there goes: true unless it is said. */
  readonly overwrite?: boolean | undefined;
  /**
   * Whether what is restored stays if the work ends before all of it is, so that the next call for the
   * same snapshot and image, with this option, goes on from there: false unless it is said. It takes a
   * digest of all data, and the optional package `koffi`: without it nothing stays.
   */
  readonly resume?: boolean | undefined;
  /**
   * Where images are kept that are restored more than once. The image is a copy of the one there, which takes
   * no time or room where the file system can share blocks; only if there is none is the snapshot fetched.
   * What a process that was killed has fetched, another one that waits does not fetch again; `resume` means
   * nothing.
   */
  readonly cache?: ImageCache | undefined;
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkRestore(options: RestoreOptions): void {
  checkBooleans(options, ["overwrite", "resume"]);
}
