/** The interceptor with undici 7, in this Node. */
import * as undici from "undici";
import { test } from "vitest";
import { checkExchanges, PROMISE } from "../../support/http/check.js";
import { undiciCases } from "./cases.js";
import { undiciSubject } from "./exchanges.js";

for (const [promise, keep] of Object.entries(undiciCases)) {
  test(promise, { timeout: 60_000 }, () => keep(undici));
}

test(PROMISE, { timeout: 300_000 }, () => checkExchanges(undiciSubject(undici, false)));
