import { pause } from "../abort.js";

/** The longest pause before the first retry, in milliseconds. */
const FIRST_BACKOFF = 100;

/** The longest pause before any retry, in milliseconds. */
const MAX_BACKOFF = 5_000;

/** The longest `Retry-After` that is obeyed, in milliseconds: after a longer one there is no retry. */
export const MAX_RETRY_AFTER = 60_000;

/** Statuses of a gateway whose server did not answer, those of Cloudflare included. */
const GATEWAY: ReadonlySet<number> = new Set([502, 504, 520, 521, 522, 523, 524]);

/** Statuses after which the same request may soon succeed. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 503, ...GATEWAY]);

/** Certificate errors of OpenSSL whose codes do not begin with `CERT_` or `UNABLE_TO_`. */
const CERTIFICATE: ReadonlySet<unknown> = new Set([
  "CRL_HAS_EXPIRED",
  "CRL_NOT_YET_VALID",
  "CRL_SIGNATURE_FAILURE",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "SELF_SIGNED_CERT_IN_CHAIN",
]);

/** TLS errors caused by damage in transit, after which a retry may succeed. */
const DAMAGED: ReadonlySet<unknown> = new Set([
  "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC",
  "ERR_SSL_UNEXPECTED_EOF_WHILE_READING",
  "ERR_TLS_HANDSHAKE_TIMEOUT",
]);

/** Connection errors after which a retry may succeed. */
const LOST: ReadonlySet<unknown> = new Set([
  ...DAMAGED,
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "EPIPE",
  "ETIMEDOUT",
]);

/**
 * Returns a random pause before a retry, in milliseconds, up to a limit that doubles with each failure. The
 * randomness spreads the retries of clients that failed together.
 *
 * @param failures consecutive failures, from 1
 */
export function backoff(failures: number, random: () => number = Math.random): number {
  return random() * Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** (failures - 1));
}

/**
 * Parses `Retry-After`, in milliseconds from now. Returns undefined if it is missing or malformed. The result may
 * exceed {@link MAX_RETRY_AFTER}.
 *
 * @param header its value: seconds, or a date
 * @param now the time, as from `Date.now()`
 */
export function retryAfter(header: string | null | undefined, now: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // `Date.parse` accepts much, such as "-1". The dates of HTTP begin with a day of the week.
  const time = /^[a-z]{3,9},? /i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** Returns whether the same request may soon succeed. */
export function isRetryableStatus(status: number): boolean {
  return RETRYABLE.has(status);
}

/** Returns whether a gateway has given up, while the server behind it may still carry out the request. */
export function isGatewayStatus(status: number): boolean {
  return GATEWAY.has(status);
}

/**
 * Returns whether a connection failed in a way that no retry can fix: the host does not exist, or the TLS
 * handshake failed, for example because the certificate is not trusted.
 */
export function isPermanent(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  if (typeof code !== "string" || DAMAGED.has(code)) return false;
  return code === "ENOTFOUND" || code === "EPROTO" || isOfTls(code);
}

/** Returns whether a connection failed in a way that a retry may fix. */
export function isLost(error: unknown): boolean {
  return LOST.has((Object(error) as { readonly code?: unknown }).code);
}

/** Returns whether a code is a TLS error: of the protocol version, the ciphers, or a certificate. */
export function isOfTls(code: string): boolean {
  return CERTIFICATE.has(code) || /^(ERR_SSL|ERR_TLS|CERT|UNABLE_TO)_/.test(code);
}

/** The number of retries of a caller that waits until the server answers. */
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

/** Decides after which failures to try again, and what to throw in the end. */
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
 * the failure is permanent, there were too many, or the server asks for too long a pause. With
 * {@link UNTIL_ANSWERED}, only an object that is gone ends the attempts.
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
