/** A worker bundled by Wrangler and run in workerd. */
import { test } from "vitest";

import { TEST_TIMEOUT } from "./support/project.js";
import { expectWorker } from "./support/worker.js";

test(
  "strips headers and guards paths in a worker bundled by Wrangler",
  { timeout: TEST_TIMEOUT },
  () => expectWorker({ name: "worker" }),
);
