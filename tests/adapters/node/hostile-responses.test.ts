/** Every way in which this version of Node sends a head; `tests/runtimes` covers other versions. */
import { describe, test } from "vitest";
import { hostileResponses } from "./hostile-responses.js";

describe.each(Object.entries(hostileResponses))("%s", (_name, cases) => {
  test.each(Object.entries(cases))("%s", (_title, run) => run());
});
