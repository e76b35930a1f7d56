/** What is waited at most before the first try after a failure, and before any, in milliseconds. */
const [FIRST_BACKOFF, MAX_BACKOFF] = [100, 5_000];

/** The longest that a server's `Retry-After` is heeded, in milliseconds: one that asks for more is not. */
export const MAX_RETRY_AFTER = 60_000;

/** The statuses of which the same request may fare better soon. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** What OpenSSL says of a certificate that does not begin with `CERT_` or `UNABLE_TO_`. */
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

/** What is broken on the way, and may be whole the next time, though TLS tells of it. */
const BROKEN: ReadonlySet<unknown> = new Set([
  "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC",
  "ERR_SSL_UNEXPECTED_EOF_WHILE_READING",
  "ERR_TLS_HANDSHAKE_TIMEOUT",
]);

/** What a connection fails with that may come about the next time. */
const LOST: ReadonlySet<unknown> = new Set([
  ...BROKEN,
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
 * How long to wait before something is tried again, in milliseconds: anything up to a limit that
 * doubles each time, so that those who failed together do not come back together.
 *
 * @param attempt how often in a row it failed, from 1
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** (attempt - 1));
}

/**
 * How long a server asks to wait, in milliseconds, or undefined if it does not, or not so that it can
 * be understood. It may be more than {@link MAX_RETRY_AFTER}.
 *
 * @param header the value of `Retry-After`: seconds, or a date
 * @param now the time, as of `Date.now()`
 */
export function retryAfter(header: string | null | undefined, now: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // `Date.parse` takes much for a date, such as "-1". Those of HTTP begin with a day of the week.
  const time = /^[a-z]{3,9},? /i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** Whether the same request may be answered otherwise soon. */
export function isRetryableStatus(status: number): boolean {
  return RETRYABLE.has(status);
}

/**
 * Whether a connection failed in a way that trying again does not mend: there is no such host, or TLS
 * does not come about, as with a certificate that is not trusted.
 */
export function isPermanent(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  if (typeof code !== "string" || BROKEN.has(code)) return false;
  return code === "ENOTFOUND" || code === "EPROTO" || isOfTls(code);
}

/** Whether a connection failed in a way that trying again may mend. */
export function isLost(error: unknown): boolean {
  return LOST.has((Object(error) as { readonly code?: unknown }).code);
}

/** Whether TLS did not come about: its version, its ciphers, or a certificate. */
export function isOfTls(code: string): boolean {
  return CERTIFICATE.has(code) || /^(ERR_SSL|ERR_TLS|CERT|UNABLE_TO)_/.test(code);
}
