/** The types of all entries, by the newest compiler and as Node resolves packages. */
import { test } from "vitest";

import { TEST_TIMEOUT } from "./support/project.js";
import { expectTypes } from "./support/types.js";

test(
  "type-checks all entries with TypeScript 7 and module resolution nodenext",
  { timeout: TEST_TIMEOUT },
  () => expectTypes("TypeScript 7", "nodenext"),
);
