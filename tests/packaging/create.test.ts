/** A project of `npm create hedgerow`, installed with the packed package. `create.verify.test.ts` has the others. */
import { join } from "node:path";
import { test } from "vitest";

import { tarballOf } from "../../scripts/lib/suites.mjs";
import { temporaryFolder } from "../support/snapshots/folder.js";
import { expectProject } from "./support/created.js";

const path = temporaryFolder();

test("a project of the template hono", () =>
  expectProject(join(path("hono"), "my app"), "hono", [tarballOf("hedgerow")], {
    absent: "/plants/oak",
  }));
