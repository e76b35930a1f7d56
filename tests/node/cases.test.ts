/**
 * The cases on the Node at hand and the source tree, for quick answers: `tests/runtimes` has them on
 * every engine and the package.
 */
import { describe, test } from "vitest";
import { memoryBytes } from "../support/memories.js";

// What counts memories comes before what instantiates modules.

import { suites } from "../cases/index.js";

/** Of a response that the runtime made, so that nobody may change them. */
const { headers: immutable } = Response.redirect("http://localhost/elsewhere");

for (const [subject, cases] of Object.entries(suites)) {
  describe(subject, () => {
    for (const [promise, run] of Object.entries(cases))
      test(promise, async () => run({ immutable, memoryBytes }));
  });
}
