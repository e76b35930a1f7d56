import { availableParallelism } from "node:os";

import { SnapshotError } from "../error.js";
import type { Progress } from "../progress.js";
import { checkInteger } from "./check-integer.js";
import type { TransferOptions } from "./transfer-options.js";

/** What all work on snapshots can be told. */
export interface WorkOptions {
  /** Ends the work: its promise is rejected with the signal's reason, and nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
  /** Is told of the progress ten times a second. What it throws at once ends the work. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** How many threads work, 1 to 256; as many as the machine has cores unless it is said. */
  readonly workers?: number | undefined;
}

/** What reading a snapshot can be told. */
export interface ReadOptions extends TransferOptions {
  /** The digest that the snapshot must have: 64 hexadecimal digits. */
  readonly digest?: string | undefined;
  /** Ends the work: its promise is rejected with the signal's reason, and nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/** What reading all of a snapshot can be told. */
export interface ReadWorkOptions extends WorkOptions, ReadOptions {}

const MAX_WORKERS = 256;

/** Checks what callers can want of all work. @throws {SnapshotError} `ERR_ARGUMENT` */
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

/** Whether it is one, and does not only have its prototype. */
function isSignal(signal: unknown): boolean {
  try {
    return signal instanceof AbortSignal && typeof signal.aborted === "boolean";
  } catch {
    return false;
  }
}

/** How many threads to work with, of which more than `parts` would have nothing to do. */
export function workerCount({ workers }: WorkOptions, parts: number): number {
  return Math.max(1, Math.min(workers ?? Math.min(availableParallelism(), MAX_WORKERS), parts));
}

/** Checks a digest that a caller wants. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedDigest({ digest }: ReadOptions): string | undefined {
  if (digest === undefined) return undefined;
  if (typeof digest === "string" && /^[0-9a-f]{64}$/i.test(digest)) return digest.toLowerCase();
  throw new SnapshotError("ERR_ARGUMENT", "digest: expected 64 hexadecimal digits");
}

/**
 * Compares the digest of a snapshot with the one that a caller wants.
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
