/** The types of all entries, by an older compiler and as bundlers resolve packages. */
import { test } from "vitest";

import { TEST_TIMEOUT } from "./support/project.js";
import { expectTypes } from "./support/types.js";

test.for([
  ["TypeScript 6", "nodenext"],
  ["TypeScript 7", "bundler"],
] as const)(
  "type-checks all entries with %s and module resolution %s",
  { timeout: TEST_TIMEOUT },
  ([compiler, resolution]) => expectTypes(compiler, resolution),
);
