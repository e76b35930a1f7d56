/** The interceptor with undici 7. */
import * as undici from "undici";
import { test } from "vitest";
import { checkExchanges, LIMIT, TITLE } from "../../support/http/check.js";
import { checkDryRuns, DRY_RUN_LIMIT, DRY_RUN_TITLE } from "../../support/http/check-dry-run.js";
import { undiciCases } from "./cases.js";
import { undiciDryRun, undiciSubject } from "./exchanges.js";

for (const [title, run] of Object.entries(undiciCases)) {
  test(title, () => run(undici));
}

test(TITLE, LIMIT, () => checkExchanges(undiciSubject(undici, false)));

test(DRY_RUN_TITLE, DRY_RUN_LIMIT, () => checkDryRuns(undiciDryRun(undici, false)));
