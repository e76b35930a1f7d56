import { pause } from "../../abort.js";
import type { Transfer } from "../../options/transfer-options.js";
import { type Failure, lost } from "../failure.js";
import { backoff, MAX_RETRY_AFTER, retryAfter } from "../retry.js";

/**
 * How long to wait before something is asked for again, in milliseconds, or undefined if there is no
 * use in it, or if it was often enough.
 *
 * @param failures how often in a row it failed, from 1
 */
export function nextTry(failure: Failure, failures: number, retries: number): number | undefined {
  const asked = retryAfter(failure.details.retryAfter, Date.now()) ?? 0;
  if (!failure.isTransient || failures > retries || asked > MAX_RETRY_AFTER) return undefined;
  return Math.max(asked, backoff(failures));
}

/**
 * Asks a server for something, and again where that may bring more.
 *
 * @param what what is asked for, for messages
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, the signal's reason, and what is no matter of
 *   the server
 */
export async function withRetries<T>(
  what: string,
  { retries }: Transfer,
  signal: AbortSignal | undefined,
  ask: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      const failure = lost(error);
      const delay = nextTry(failure, failures, retries);
      if (delay === undefined) throw failure.toError(what, failures);
      await pause(delay, signal);
    }
  }
}
