/** Every way by which this Node sends a head; `tests/runtimes` has the other ones. */
import { describe, test } from "vitest";
import { hostileResponses } from "./hostile-responses.js";

describe.each(Object.entries(hostileResponses))("%s", (_name, cases) => {
  test.each(Object.entries(cases))("%s", (_promise, keep) => keep());
});
