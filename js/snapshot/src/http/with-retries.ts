import { pause } from "../abort.js";
import { backoff, MAX_RETRY_AFTER } from "./retry.js";

/** The number of retries of those who wait until the server answers. */
export const UNTIL_ANSWERED = Number.POSITIVE_INFINITY;

/** What a failed attempt says about the next one. */
export interface RetryableFailure {
  /** Whether another attempt may succeed. */
  readonly isTransient: boolean;
  /** Whether the object was replaced or deleted. Default: unknown. */
  readonly isGone?: boolean;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfter: number | undefined;
}

/** How failed attempts are judged, counted and reported. */
export interface RetryPolicy<Failure extends RetryableFailure> {
  /** Consecutive failed attempts, after the first, before giving up. */
  readonly retries: number;
  readonly signal: AbortSignal | undefined;
  /** Describes the error of an attempt. Rethrows errors that a retry cannot fix. */
  readonly failureOf: (error: unknown) => Failure;
  /** Returns the error to throw after the last failure. `failures` counts consecutive failures. */
  readonly errorOf: (failure: Failure, failures: number) => unknown;
  /** Whether an error is the final response, which counts even after an abort. Default: no error is. */
  readonly isFinal?: (error: unknown) => boolean;
}

/**
 * Returns how long to wait before the next attempt, in milliseconds, or undefined if there should be none:
 * the failure is permanent, there were too many, or the server asks for too long a pause. Those who retry
 * {@link UNTIL_ANSWERED} stop only if the object is gone.
 *
 * @param failures consecutive failures, from 1
 */
export function nextDelay(
  { isTransient, isGone = false, retryAfter = 0 }: RetryableFailure,
  failures: number,
  retries: number,
): number | undefined {
  const delay = Math.max(retryAfter, backoff(failures));
  if (retries === UNTIL_ANSWERED) return isGone ? undefined : Math.min(delay, MAX_RETRY_AFTER);
  if (!isTransient || failures > retries || retryAfter > MAX_RETRY_AFTER) return undefined;
  return delay;
}

/**
 * Calls `attempt` until it succeeds, with pauses between attempts.
 *
 * @throws the signal's reason, `errorOf` the last failure, and what `failureOf` rethrows
 */
export async function withRetries<T, Failure extends RetryableFailure>(
  { retries, signal, failureOf, errorOf, isFinal }: RetryPolicy<Failure>,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!isFinal?.(error)) signal?.throwIfAborted();
      const failure = failureOf(error);
      const delay = nextDelay(failure, failures, retries);
      if (delay === undefined) throw errorOf(failure, failures);
      await pause(delay, signal);
    }
  }
}
