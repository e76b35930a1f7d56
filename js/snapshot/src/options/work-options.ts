import { availableParallelism } from "node:os";

import type { Progress } from "../progress.js";
import { checkInteger } from "./check-integer.js";
import { checkFunction, checkSignal } from "./check-types.js";
import { checkedDigestOf } from "./digest.js";
import type { TransferOptions } from "./transfer-options.js";

/** Options of every function that reads or writes a whole snapshot. */
export interface WorkOptions {
  /** Aborts the operation: the promise is rejected with the signal's reason, and no file is left behind. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress ten times a second. An error that it throws ends the operation. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Number of worker threads, 1 to 256. Default: the number of available cores. */
  readonly workers?: number | undefined;
}

/**
 * Returns where a base object of a delta is, or undefined to use the reference in the delta.
 *
 * @param digest the identity of the object, as 64 hexadecimal digits
 */
export type Resolve = (
  digest: string,
) => string | URL | undefined | Promise<string | URL | undefined>;

/** Options of every function that reads a snapshot. */
export interface ReadOptions extends TransferOptions {
  /**
   * Identity that the snapshot must have, as 64 hexadecimal digits: any other snapshot is an
   * `ERR_SNAPSHOT_DIGEST`. Default: any snapshot is accepted.
   */
  readonly digest?: string | undefined;
  /**
   * Returns the locations of the base objects of a delta. Their bytes are verified, so the locations need not be
   * trusted. Default: the references in the delta.
   */
  readonly resolve?: Resolve | undefined;
  /** Aborts the operation: the promise is rejected with the signal's reason, and no file is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of every function that reads a whole snapshot. */
export interface ReadWorkOptions extends WorkOptions, ReadOptions {}

const MAX_WORKERS = 256;

/** Checks the options of {@link WorkOptions}. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkWork({ signal, onProgress, workers }: WorkOptions): void {
  checkSignal(signal);
  checkFunction("onProgress", onProgress);
  if (workers !== undefined) checkInteger("workers", workers, 1, MAX_WORKERS);
}

/** Returns the number of worker threads for `parts` independent parts: more would be idle. */
export function workerCount({ workers }: WorkOptions, parts: number): number {
  return Math.max(1, Math.min(workers ?? Math.min(availableParallelism(), MAX_WORKERS), parts));
}

/** Checks `resolve` and `digest`, and returns the digest in lower case. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedDigest({ digest, resolve }: ReadOptions): string | undefined {
  checkFunction("resolve", resolve);
  return checkedDigestOf("digest", digest);
}
