import { checkBooleans } from "./check-booleans.js";
import { checkInteger } from "./check-integer.js";
import { transferOf } from "./transfer-options.js";
import { checkWork, type ReadWorkOptions } from "./work-options.js";

/** Options of `ImageCache.open`. */
export interface CacheOptions {
  /** Maximum disk usage of the directory, in bytes. At least 1 MiB. Required. */
  readonly maxBytes: number;
  /** Whether to turn a missing or empty directory into a cache. Default: `true`. */
  readonly create?: boolean | undefined;
  /**
   * Verifies images continuously in the background at this rate, in bytes per second, and evicts damaged
   * ones. Only one of the processes that share the cache does so at a time. Default: no background
   * verification.
   */
  readonly verifyBytesPerSecond?: number | undefined;
}

/** Options of `ImageCache.get`. */
export interface GetOptions extends ReadWorkOptions {
  /**
   * Path for a private, writable copy of the image. The copy shares the blocks of the cache on file systems
   * with reflinks (XFS, btrfs); elsewhere its data is copied and its holes stay holes. Default: no copy.
   */
  readonly copyTo?: string | undefined;
  /** Whether the copy may replace an existing file. Default: `true`. */
  readonly overwrite?: boolean | undefined;
  /** Whether to fsync the copy before resolving, to survive a power failure. Default: `false`. */
  readonly durable?: boolean | undefined;
}

/** Options of `ImageCache.verify`. */
export interface VerifyOptions {
  /** Aborts the verification: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum read rate, in bytes per second. At least 1. Default: unlimited. */
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
