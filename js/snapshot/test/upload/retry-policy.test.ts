/** The policy of retries: pauses, `Retry-After`, and which failures are permanent. */
import { expect, test } from "vitest";
import {
  backoff,
  isLost,
  isPermanent,
  MAX_RETRY_AFTER,
  retryAfter,
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
