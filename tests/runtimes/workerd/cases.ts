/** Runs the cases in a worker, all of them in one request. */
import { memoryBytes } from "../../support/memories.js";

// The memory counter has to load before any module is instantiated.

import { suites } from "../../cases/index.js";
import { runSuites } from "../run-suites.js";

export default {
  async fetch({ headers }: Request): Promise<Response> {
    return Response.json(await runSuites(suites, { immutable: headers, memoryBytes }));
  },
};
