/** The policy of retries: pauses, `Retry-After`, and which failures are permanent. */
import { expect, test } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";
import {
  backoff,
  isLost,
  isPermanent,
  isRetryableStatus,
  MAX_RETRY_AFTER,
  nextDelay,
  type RetryableFailure,
  retryAfter,
  UNTIL_ANSWERED,
  withRetries,
} from "../../dist/http/retry.js";

test("doubles the longest pause with each failure, up to 5 s", () => {
  const longest = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((attempt) => backoff(attempt, () => 1));
  expect(longest).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  expect(backoff(7, () => 0)).toBe(0);
});

test("parses Retry-After as seconds or a date", () => {
  const now = Date.parse("Wed, 21 Oct 2015 07:28:00 GMT");
  expect(retryAfter("3", now)).toBe(3000);
  expect(retryAfter("Wed, 21 Oct 2015 07:28:07 GMT", now)).toBe(7000);
  expect(retryAfter("Wed, 21 Oct 2015 07:27:00 GMT", now)).toBe(0);
  expect(retryAfter("61", now)).toBeGreaterThan(MAX_RETRY_AFTER);
  for (const none of [undefined, null, "", "-1", "1.5", "soon"]) {
    expect(retryAfter(none, now)).toBeUndefined();
  }
});

test("tells permanent failures of connections from transient ones", () => {
  for (const code of ["ENOTFOUND", "EPROTO", "CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID"]) {
    expect([isPermanent({ code }), isLost({ code })]).toEqual([true, false]);
  }
  for (const code of ["ECONNRESET", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT"]) {
    expect([isPermanent({ code }), isLost({ code })]).toEqual([false, true]);
  }
});

test("retries the statuses by which gateways say that a server does not answer", () => {
  const retried = Array.from({ length: 200 }, (_, at) => 400 + at).filter(isRetryableStatus);
  expect(retried).toEqual([408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);
});

/** Runs attempts that all fail in one way, and returns how many there were, and the error. */
async function runFailing(failure: RetryableFailure, signal?: AbortSignal) {
  let attempts = 0;
  const error = await rejectionOf(
    withRetries(
      {
        ...{ retries: 2, signal },
        failureOf: () => failure,
        errorOf: (_, failures) => new Error(`${failures} in a row`),
      },
      async () => {
        attempts += 1;
        throw new Error("failed");
      },
    ),
  );
  return { attempts, error };
}

const TRANSIENT: RetryableFailure = { isTransient: true, retryAfter: undefined };

test("retries transient failures, and reports how many there were in a row", async () => {
  const { attempts, error } = await runFailing(TRANSIENT);
  expect([attempts, String(error)]).toEqual([3, "Error: 3 in a row"]);
});

test("reports a final response after an abort, and the abort after any other failure", async () => {
  for (const isFinal of [true, false]) {
    const controller = new AbortController();
    const refusal = new Error("refused");
    const policy = {
      ...{ retries: 2, signal: controller.signal, isFinal: () => isFinal },
      failureOf: () => ({ isTransient: false, retryAfter: undefined }),
      errorOf: () => refusal,
    };
    const attempt = async () => {
      controller.abort();
      throw new Error("failed");
    };
    const error = await rejectionOf(withRetries(policy, attempt));
    expect(error).toBe(isFinal ? refusal : controller.signal.reason);
  }
});

test("those who wait until the server answers stop only when the object is gone", () => {
  const busy = { isTransient: true, retryAfter: 3_600_000 };
  expect(nextDelay(busy, 1_000, UNTIL_ANSWERED)).toBe(60_000);
  expect(nextDelay({ ...busy, isTransient: false }, 1, UNTIL_ANSWERED)).toBe(60_000);
  expect(nextDelay({ ...busy, isGone: true }, 1, UNTIL_ANSWERED)).toBeUndefined();
});

test("does not retry a permanent failure, or one that asks for too long a pause", async () => {
  for (const failure of [
    { isTransient: false, retryAfter: undefined },
    { isTransient: true, retryAfter: MAX_RETRY_AFTER + 1 },
  ]) {
    expect((await runFailing(failure)).attempts).toBe(1);
  }
});

test("aborts a pause before a retry", async () => {
  const controller = new AbortController();
  const reason = new Error("the caller's own");
  setTimeout(() => controller.abort(reason), 20);
  const { attempts, error } = await runFailing(
    { ...TRANSIENT, retryAfter: 50_000 },
    controller.signal,
  );
  expect([attempts, error]).toEqual([1, reason]);
});
