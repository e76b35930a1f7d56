/**
 * Runs the cases on the current Node and the source tree, for fast feedback. `tests/runtimes` runs them on every
 * engine, against the packed package.
 */
import { describe, test } from "vitest";
import { memoryBytes } from "../support/memories.js";

// The memory counter has to load before any module is instantiated.

import { suites } from "../cases/index.js";

/** The runtime makes the headers of a redirect immutable. */
const { headers: immutable } = Response.redirect("http://localhost/elsewhere");

for (const [subject, cases] of Object.entries(suites)) {
  describe(subject, () => {
    for (const [promise, run] of Object.entries(cases))
      test(promise, async () => run({ immutable, memoryBytes }));
  });
}
