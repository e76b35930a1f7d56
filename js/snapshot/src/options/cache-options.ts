import { checkBooleans } from "./check-booleans.js";
import { checkInteger } from "./check-integer.js";
import { transferOf } from "./transfer-options.js";
import { checkWork, type ReadWorkOptions } from "./work-options.js";

/** Options of `ImageCache.open`. */
export interface CacheOptions {
  /** The maximum disk usage of the directory, in bytes, 1 MiB or more. */
  readonly maxBytes: number;
  /** Whether to make a missing or empty directory a cache. Default: `true`. */
  readonly create?: boolean | undefined;
  /**
   * How many bytes per second to read in the background to find damaged images, in one process at a time. Default:
   * no background verification.
   */
  readonly verifyBytesPerSecond?: number | undefined;
}

/** Options of `ImageCache.get`. */
export interface GetOptions extends ReadWorkOptions {
  /**
   * The path for a private, writable copy of the image. On a file system that can share blocks (XFS, btrfs), it takes
   * no space until it is written to. Default: no copy, but a lease of the cache's own file.
   */
  readonly copyTo?: string | undefined;
  /** Whether a copy may replace a file. Default: `true`. */
  readonly overwrite?: boolean | undefined;
  /** Whether to fsync a copy before resolving. Default: `false`. */
  readonly durable?: boolean | undefined;
}

/** Options of `ImageCache.verify`. */
export interface VerifyOptions {
  /** Cancels the verification, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of bytes to read per second. Default: no limit. */
  readonly bytesPerSecond?: number | undefined;
}

/** The minimum of `maxBytes`. */
const MIN_BYTES = 2 ** 20;

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkCache(options: CacheOptions): void {
  checkInteger("maxBytes", options.maxBytes, MIN_BYTES, Number.MAX_SAFE_INTEGER);
  checkBooleans(options, ["create"]);
  const { verifyBytesPerSecond } = options;
  if (verifyBytesPerSecond === undefined) return;
  checkInteger("verifyBytesPerSecond", verifyBytesPerSecond, 1, Number.MAX_SAFE_INTEGER);
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkVerify(options: VerifyOptions): void {
  checkWork(options);
  const { bytesPerSecond } = options;
  if (bytesPerSecond === undefined) return;
  checkInteger("bytesPerSecond", bytesPerSecond, 1, Number.MAX_SAFE_INTEGER);
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkGet(options: GetOptions): void {
  checkWork(options);
  transferOf(options);
  checkBooleans(options, ["overwrite", "durable"]);
}
