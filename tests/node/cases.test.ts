/** The cases, on Node and through the package's default entry. */
import { describe, test } from "vitest";
import { suites } from "../cases/index.js";

/** Of a response that the runtime made, so that nobody may change them. */
const { headers: immutable } = Response.redirect("http://localhost/elsewhere");

for (const [subject, cases] of Object.entries(suites)) {
  describe(subject, () => {
    for (const [promise, run] of Object.entries(cases))
      test(promise, async () => run({ immutable }));
  });
}
