import { availableParallelism } from "node:os";

import { SnapshotError } from "../error.js";
import type { Progress } from "../progress.js";
import { checkInteger } from "./check-integer.js";
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
  if (signal !== undefined && !isSignal(signal)) {
    throw new SnapshotError(
      "ERR_ARGUMENT",
      `signal: expected an AbortSignal, found ${typeof signal}`,
    );
  }
  if (onProgress !== undefined && typeof onProgress !== "function") {
    const found = typeof onProgress;
    throw new SnapshotError("ERR_ARGUMENT", `onProgress: expected a function, found ${found}`);
  }
  if (workers !== undefined) checkInteger("workers", workers, 1, MAX_WORKERS);
}

/** Returns whether a value is an `AbortSignal`, and not an object with its prototype. */
function isSignal(signal: unknown): boolean {
  try {
    return signal instanceof AbortSignal && typeof signal.aborted === "boolean";
  } catch {
    return false;
  }
}

/** Returns the number of worker threads for `parts` independent parts: more would be idle. */
export function workerCount({ workers }: WorkOptions, parts: number): number {
  return Math.max(1, Math.min(workers ?? Math.min(availableParallelism(), MAX_WORKERS), parts));
}

/** Checks `resolve` and `digest`, and returns the digest in lower case. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedDigest({ digest, resolve }: ReadOptions): string | undefined {
  checkResolve(resolve);
  return checkedDigestOf("digest", digest);
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkResolve(resolve: Resolve | undefined): void {
  if (resolve === undefined || typeof resolve === "function") return;
  const message = `resolve: expected a function, found ${typeof resolve}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns the digest in an option, in lower case. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedDigestOf(name: string, digest: string | undefined): string | undefined {
  if (digest === undefined) return undefined;
  if (typeof digest === "string" && /^[0-9a-f]{64}$/i.test(digest)) return digest.toLowerCase();
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected 64 hexadecimal digits`);
}

/**
 * Throws if a snapshot has another digest than the caller expects.
 *
 * @throws {SnapshotError} `ERR_SNAPSHOT_DIGEST`
 */
export function checkPinned(name: string, expected: string | undefined, found: string): void {
  if (expected === undefined || expected === found) return;
  throw new SnapshotError(
    "ERR_SNAPSHOT_DIGEST",
    `${name}: expected the snapshot of digest ${expected}, found ${found}`,
  );
}
