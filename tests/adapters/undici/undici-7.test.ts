/** The interceptor with undici 7. */
import * as undici from "undici";
import { test } from "vitest";
import { checkExchanges, PROMISE } from "../../support/http/check.js";
import { undiciCases } from "./cases.js";
import { undiciSubject } from "./exchanges.js";

for (const [title, run] of Object.entries(undiciCases)) {
  test(title, { timeout: 60_000 }, () => run(undici));
}

test(PROMISE, { timeout: 300_000 }, () => checkExchanges(undiciSubject(undici, false)));
