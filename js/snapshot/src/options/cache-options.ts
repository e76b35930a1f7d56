import { checkBooleans } from "./check-booleans.js";
import { checkInteger } from "./check-integer.js";
import { transferOf } from "./transfer-options.js";
import { checkWork, type ReadWorkOptions } from "./work-options.js";

/** How a cache is opened. */
export interface CacheOptions {
  /** How many bytes everything in its directory may take on the disk, 1 MiB or more. */
  readonly maxBytes: number;
  /** Whether a directory is made a cache that is none yet: true unless it is said. */
  readonly create?: boolean | undefined;
  /**
   * How many bytes a second of images are read in the background, over and over, to find those that are
   * damaged: none unless it is said. One process of all that have the cache open does so at a time.
   */
  readonly verifyBytesPerSecond?: number | undefined;
}

/** What getting an image out of a cache can be told. */
export interface GetOptions extends ReadWorkOptions {
  /**
   * Where a copy of the image is to be, to which its owner may write. It takes no room where the file system
   * can share that of the cache (XFS, btrfs); elsewhere its holes take none.
   */
  readonly copyTo?: string | undefined;
  /** Whether a file that is there goes, for a copy: true unless it is said. */
  readonly overwrite?: boolean | undefined;
  /** Whether a copy is on the disk when it is told of, so that it outlives a loss of power: false unless it is said. */
  readonly durable?: boolean | undefined;
}

/** How verifying can be told to go. */
export interface VerifyOptions {
  /** Ends it: its promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How many bytes a second are read at most: as many as can be unless it is said. */
  readonly bytesPerSecond?: number | undefined;
}

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
