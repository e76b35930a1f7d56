/** A worker, bundled by Wrangler and run in workerd. */
import { test } from "vitest";

import { PATIENCE } from "./support/project.js";
import { expectWorker } from "./support/worker.js";

test("the worker does the job", { timeout: PATIENCE }, () => expectWorker());
