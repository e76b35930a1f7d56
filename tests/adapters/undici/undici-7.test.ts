/** The interceptor with undici 7, in this Node. */
import * as undici from "undici";
import { expect, test } from "vitest";
import { checkExchanges, SEED } from "../../support/http/check.js";
import { undiciCases } from "./cases.js";
import { undiciSubject } from "./exchanges.js";

for (const [promise, keep] of Object.entries(undiciCases)) {
  test(promise, { timeout: 60_000 }, () => keep(undici));
}

test(`10,000 random exchanges lose what the rules match, and nothing else (seed ${SEED})`, {
  timeout: 300_000,
}, async () => {
  const { exchanges, stripped, kept } = await checkExchanges(undiciSubject(undici, false), 10_000);
  expect(exchanges).toBe(10_000);
  expect(Math.min(stripped, kept)).toBeGreaterThan(10_000);
});
